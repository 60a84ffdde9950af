// SPDX-License-Identifier: Apache-2.0
// What follows the layout is a device.
// expect: meshtensor T38: the last argument of an executable is a device, as mt::reference_device,
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights) { mt::executable<grow, mesh, spread, grow> step(weights, batch(4)); }

int main() {}
