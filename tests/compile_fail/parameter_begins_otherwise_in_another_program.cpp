// SPDX-License-Identifier: Apache-2.0
// Programs that share a parameter begin it alike, else the one that is made first would decide.
// expect: S14 'table' starts with no initializer (small_programs.hpp:
//
// expect: in 'grow' and with constant(0.02) (parameter_begins_otherwise_in_another_program.cpp:16) in 'look_small':
//
// expect: programs that share a parameter must give it the same initializer
//
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

struct look_small {
  constexpr void operator()(mt::scope auto s) const {
    s.output("twice", s.parameter("table", rows, columns, mt::constant(0.02)) * 2);
  }
};

using growing = mt::executable<grow, mesh, spread>;
using looking = mt::executable<look_small, mesh, spread>;
static_assert(mt::one_store<growing, looking>);

int main() {}
