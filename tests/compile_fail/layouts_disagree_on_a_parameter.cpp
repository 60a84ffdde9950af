// SPDX-License-Identifier: Apache-2.0
// Programs that share parameters may have layouts of their own, as long as what they share lies alike.
// expect: S14 'table' is f32[rows, columns/model] in 'grow' but f32[rows/model, columns] in 'look'
// expect: programs that share parameters must imply one layout for each
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

using growing = mt::executable<grow_and_look, grow, mesh, spread>;
using looking = mt::executable<grow_and_look, look, mesh, by_rows>;
static_assert(mt::one_store<growing, looking>);

int main() {}
