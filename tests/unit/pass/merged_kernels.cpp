// SPDX-License-Identifier: Apache-2.0
// Kernels that read the same values, or one another's results, are merged: the update of a parameter and of its
// optimizer's states is one kernel.
#include <algorithm>
#include <vector>

#include "meshtensor/nn/nn.hpp"
#include "meshtensor/regime/regime.hpp"
#include "unit/pass/planned.hpp"

using namespace meshtensor_test;

namespace {

inline constexpr struct replica : mt::dim<"replica", 4> {} replica;
inline constexpr struct rows : mt::dim<"rows", 12> {} rows;
inline constexpr struct width : mt::dim<"width", 16> {} width;
inline constexpr struct next : mt::dim<"next", 8> {} next;
inline constexpr struct wide : mt::dim<"wide", 16> {} wide;

template <class Optimizer>
struct step_of {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = einsum(s.input("x", mt::f32, rows, width), s.parameter("w", width, next), mt::to(rows, next));
    Optimizer{.learning_rate = 0.1, .clip_norm = 1}.minimize(s / "optimizer", mean(y * y));
  }
};
template <class Optimizer>
using synchronous = mt::replicas<step_of<Optimizer>, replica, mt::synchronous>;

/// A kernel whose result a product reads, a kernel that reads the product, and one that reads both of the first.
struct reads_across_a_product {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows, width);
    auto const first = exp(x);
    auto const product = rename(einsum(first, s.input("w", mt::f32, width, wide), mt::to(rows, wide)), wide, width);
    s.output("second", x * product);
    s.output("third", first + 1);
  }
};

/// The number of kernels that compute what the step writes.
template <class Program>
int kernels_of_updates(mt::name const& sharded, std::int64_t ranks) {
  auto const low = mt::lower(traced<Program>, mt::entry_name<Program>(), mt::mesh_shape{}.add("ax", ranks),
                             mt::layout_rules{}.shard(sharded, {"ax"}), {}, {.fuses = true});
  mt::module const& m = low->graph;
  std::vector<mt::node_id> kernels;
  for (int i = 0; i < m.node_count; ++i) {
    if (m.nodes[i].kind != mt::primitive::write) continue;
    mt::node_id const by = m.values[m.operand(m.nodes[i], 0)].node;
    CHECK(m.nodes[by].kind == mt::primitive::kernel);
    if (std::find(kernels.begin(), kernels.end(), by) == kernels.end()) kernels.push_back(by);
  }
  return static_cast<int>(kernels.size());
}

}  // namespace

TEST_CASE("a parameter and the states of its optimizer are updated by one kernel") {
  for (std::int64_t const ranks : {1, 2, 4}) {
    CAPTURE(ranks);
    CHECK(kernels_of_updates<step_of<mt::adam>>("rows", ranks) == 1);
    CHECK(kernels_of_updates<step_of<mt::adamw>>("rows", ranks) == 1);
    CHECK(kernels_of_updates<synchronous<mt::adam>>("replica", ranks) == 1);
    CHECK(kernels_of_updates<synchronous<mt::adamw>>("replica", ranks) == 1);
    CHECK(kernels_of_updates<synchronous<mt::momentum>>("replica", ranks) == 1);
  }
}

TEST_CASE("a kernel whose result other nodes read is not merged with a later one") {
  auto const low = mt::lower(traced<reads_across_a_product>, mt::entry_name<reads_across_a_product>(), mt::mesh_shape{},
                             mt::layout_rules{}, {}, {.fuses = true});
  mt::module const& m = low->graph;
  int kernels = 0;
  for (int i = 0; i < m.node_count; ++i) {
    kernels += m.nodes[i].kind == mt::primitive::kernel;
    for (int k = 0; k < m.nodes[i].operands.count; ++k)
      if (m.nodes[i].region == m.values[m.operand(m.nodes[i], k)].region)
        CHECK(m.values[m.operand(m.nodes[i], k)].node < i);
  }
  CHECK(kernels == 2);
}
