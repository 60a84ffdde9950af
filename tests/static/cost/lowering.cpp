// SPDX-License-Identifier: Apache-2.0
// A training step that the compiler takes from trace to plan: its costliest constant evaluation is counted by
// tests/static/compile_cost.py. The number holds for g++ 12.
// operations: 4064336
#include "unit/run/two_layers.hpp"

namespace mt = meshtensor;

namespace {

using net = two_layers::network<24, 2, 2>;
struct mesh : mt::mesh<net::data, net::model> {};
struct layout : mt::layout<mt::shard<net::batch, net::data>, mt::shard<net::inner, net::model>,
                           mt::in<"optimizer", mt::shard<net::hidden, net::data>>> {};
using programs = mt::programs<net::train_step, net::evaluate>;
using stages = mt::lowered<programs, net::train_step, mesh, layout>;
static_assert(stages::planned.arena_bytes > 0 && stages::has_valid_plan<mt::pass_input::numbers>);

}  // namespace
