// SPDX-License-Identifier: Apache-2.0
// An output with dims is no number.
// expect: meshtensor T03: this output has dims, so it is no number
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

float use(mt::store& weights) {
  mt::executable<grow, mesh, spread> step(weights, batch(4));
  return step(mt::feed<"x">(std::vector<float>(16))).get<"y">();
}

int main() {}
