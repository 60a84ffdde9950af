// SPDX-License-Identifier: Apache-2.0
// The name of an output as an argument.
// expect: T19 get takes the name of the output in angle brackets: step(...).get<"loss">()
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights) {
  mt::executable<grow_and_look, grow, mesh, spread> step(weights, batch(4));
  step().get("sum");
}

int main() {}
