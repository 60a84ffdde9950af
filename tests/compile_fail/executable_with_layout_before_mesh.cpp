// SPDX-License-Identifier: Apache-2.0
// The mesh stands before the layout.
// expect: meshtensor T38: an executable is declared by a program, a mesh and a layout, in this order
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use(mt::store& weights) { mt::executable<grow, spread, mesh> step(weights, batch(4)); }

int main() {}
