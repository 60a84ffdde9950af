// SPDX-License-Identifier: Apache-2.0
// An input that the program does not have.
// quick
// expect: meshtensor refuses it, for this Reason
// expect: T12 the program has no input
// expect: ; did you mean
// expect: It has: x
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights) {
  mt::executable<grow_and_look, grow, mesh, spread> step(weights, batch(4));
  step(mt::feed<"ex">(std::vector<float>(16)));
}

int main() {}
