// SPDX-License-Identifier: Apache-2.0
// A typo in the name of a loss: one sentence, not another one about its dims.
// expect: T12 the program has no output 'summ'; did you mean 'sum'?
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

float use(mt::store& weights) {
  mt::executable<grow, mesh, spread> step(weights, batch(4));
  return step(mt::feed<"x">(std::vector<float>(16))).get<"summ">();
}

int main() {}
