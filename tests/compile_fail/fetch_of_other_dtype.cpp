// SPDX-License-Identifier: Apache-2.0
// Outputs are not converted on their way into the caller's memory.
// expect: , but it is fetched into memory of f64: nothing is converted silently
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights, double* y) {
  mt::executable<grow_and_look, grow, mesh, spread> step(weights, batch(4));
  step(mt::fetch_local<"y">(y));
}

int main() {}
