// SPDX-License-Identifier: Apache-2.0
// An array has the dims of the input, in any order.
// expect: T03 the input 'x' is f32[batch, rows], but an array [batch, columns] is fed
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights) {
  mt::executable<grow_and_look, grow, mesh, spread> step(weights, batch(4));
  step(mt::feed<"x">(mt::array<float, batch, columns>(batch(4))));
}

int main() {}
