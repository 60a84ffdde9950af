// SPDX-License-Identifier: Apache-2.0
// Programs that are declared together share their parameters: one path, one set of dims.
// quick
// expect: is declared twice, as f32[
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

constexpr auto traced = mt::try_trace<mt::programs<grow, other_dims>>();
static_assert(mt::is_valid<traced>);

int main() { return traced.node_count; }
