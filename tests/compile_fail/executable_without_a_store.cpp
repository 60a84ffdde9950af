// SPDX-License-Identifier: Apache-2.0
// An executable takes a store before extents.
// expect: meshtensor T58: the first argument of an executable is the store of its values, which must outlive
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

void use() { mt::executable<grow, mesh, spread> step(batch(4)); }

int main() {}
