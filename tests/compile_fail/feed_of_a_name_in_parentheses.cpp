// SPDX-License-Identifier: Apache-2.0
// The name of an input as an argument, as in a dictionary of PyTorch.
// expect: T19 feed takes the name of the input in angle brackets: mt::feed<"x">(x)
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights) {
  mt::executable<grow_and_look, grow, mesh, spread> step(weights, batch(4));
  std::vector<float> const x(12);
  step(mt::feed("x", x));
}

int main() {}
