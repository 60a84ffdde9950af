// SPDX-License-Identifier: Apache-2.0
// The modules that the compiler makes are verified behind every row of the table of passes, with the placements of
// those that are partitioned: a training step of a network, one of a loop, and one of composites, on a mesh and for a
// device that fuses.
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/pass/verify/verify_layout.hpp"
#include "unit/pass/programs.hpp"

using namespace meshtensor_test;

namespace {

inline constexpr struct data : mt::axis<"data", 3> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<in, model>> {};
struct fusing_device {
  static constexpr mt::device_capabilities capabilities{.fuses = true};
};

/// Whether the rows `Rows` leave valid modules.
template <class Stages, int... Rows>
consteval bool are_valid(std::integer_sequence<int, Rows...>) {
  static_assert(((mt::verify(Stages::template after<Rows>()).empty()) && ...));
  static_assert(
      ((Rows < mt::passes_of(mt::pass_input::program) || mt::verify_layout(Stages::template after<Rows>()).empty()) &&
       ...));
  return true;
}
template <class Program>
struct every_row {
  using stages = mt::lowered<Program, Program, mesh, layout, fusing_device>;
  static_assert(are_valid<stages>(std::make_integer_sequence<int, mt::pass_count>()));
  static_assert(stages::template has_valid_plan<mt::pass_input::numbers>);
};
template struct every_row<network>;
template struct every_row<deep>;
template struct every_row<composed>;

// What is verified is no empty thing: values are sharded, sums are reduced, and there are kernels.
constexpr mt::module const& lowered = every_row<deep>::stages::graph;
static_assert([] {
  bool sharded = false, waits = false, kernels = false;
  for (int i = 0; i < lowered.value_count; ++i) sharded = sharded || lowered.values[i].layout.shards(0);
  for (int i = 0; i < lowered.node_count; ++i) {
    waits = waits || lowered.nodes[i].kind == mt::primitive::wait;
    kernels = kernels || lowered.nodes[i].kind == mt::primitive::kernel;
  }
  return sharded && waits && kernels;
}());

}  // namespace
