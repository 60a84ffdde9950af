// SPDX-License-Identifier: Apache-2.0
// An output is fetched by its name.
// expect: T12 the program has no output
// expect: ; it has: y, sum
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights, float* twice) {
  mt::executable<grow_and_look, grow, mesh, spread> step(weights, batch(4));
  step(mt::fetch_local<"twice">(twice));
}

int main() {}
