// SPDX-License-Identifier: Apache-2.0
// flow_network: the cut is as cheap as the cheapest of all, and the one nearest to the sink.
#include "meshtensor/pass/save_or_recompute/min_cut.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <random>
#include <vector>

namespace mt = meshtensor;

namespace {

struct way {
  int from, to, capacity;
};

std::unique_ptr<mt::flow_network> network_of(int vertices, std::vector<way> const& ways) {
  auto flow = std::make_unique<mt::flow_network>();
  for (int v = 0; v < vertices; ++v) flow->add_vertex();
  for (way const& w : ways) flow->add_edge(w.from, w.to, w.capacity);
  return flow;
}

/// What it costs to part the vertices whose bit is set, the sink's side, from the others.
int cost_of(unsigned sinks_side, std::vector<way> const& ways) {
  int cost = 0;
  for (way const& w : ways)
    if ((sinks_side >> w.from & 1u) == 0 && (sinks_side >> w.to & 1u) != 0) cost += w.capacity;
  return cost;
}

}  // namespace

TEST_CASE("the cheapest cut, and of several the one nearest to the sink") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 400; ++trial) {
    int const vertices = 2 + static_cast<int>(random() % 7);
    std::vector<way> ways;
    for (unsigned e = random() % 20; e > 0; --e)
      ways.push_back({static_cast<int>(random() % static_cast<unsigned>(vertices)),
                      static_cast<int>(random() % static_cast<unsigned>(vertices)), static_cast<int>(random() % 6)});
    int const source = 0, sink = vertices - 1;
    auto const flow = network_of(vertices, ways);
    flow->fill(source, sink);
    unsigned found = 0;
    for (int v = 0; v < vertices; ++v) found |= (flow->is_before_sink(v) ? 1u : 0u) << v;
    int cheapest = 1 << 20;
    for (unsigned side = 0; side < 1u << vertices; ++side)
      if ((side >> source & 1u) == 0 && (side >> sink & 1u) != 0) cheapest = std::min(cheapest, cost_of(side, ways));
    CHECK(cost_of(found, ways) == cheapest);
    for (unsigned side = 0; side < 1u << vertices; ++side)
      if ((side >> source & 1u) == 0 && (side >> sink & 1u) != 0 && cost_of(side, ways) == cheapest)
        CHECK((found & ~side) == 0);
  }
}

TEST_CASE("the compiler finds it, too") {
  static constexpr bool cut_before_last = [] {
    mt::flow_network flow{};
    for (int v = 0; v < 4; ++v) flow.add_vertex();
    flow.add_edge(0, 1, mt::flow_network::unlimited), flow.add_edge(1, 2, 5), flow.add_edge(2, 3, 3);
    flow.fill(0, 3);
    return flow.is_before_sink(3) && !flow.is_before_sink(2) && !flow.is_before_sink(1);
  }();
  static_assert(cut_before_last);
  CHECK(cut_before_last);
}
