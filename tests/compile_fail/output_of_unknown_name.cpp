// SPDX-License-Identifier: Apache-2.0
// An output that the program does not have; another one of the programs has it.
// expect: T12 the program has no output
// expect: ; it has: y, sum
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights) {
  mt::executable<grow_and_look, grow, mesh, spread> step(weights, batch(4));
  step().get<"twice">();
}

int main() {}
