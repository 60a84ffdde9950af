// SPDX-License-Identifier: Apache-2.0
// A number that the program does not have.
// expect: T12 the program has no number
// expect: ? It has: step
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights) {
  mt::executable<grow_and_look, grow, mesh, spread> step(weights, batch(4));
  step(mt::set<"stpe">(2));
}

int main() {}
