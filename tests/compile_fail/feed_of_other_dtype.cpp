// SPDX-License-Identifier: Apache-2.0
// Dtypes are never converted silently.
// expect: , but f64 is fed: nothing is converted silently
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights) {
  mt::executable<grow_and_look, grow, mesh, spread> step(weights, batch(4));
  step(mt::feed<"x">(std::vector<double>(16)));
}

int main() {}
