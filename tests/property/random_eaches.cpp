// SPDX-License-Identifier: Apache-2.0
// Graphs and programs made at random in an each, or in one each within another: for one index after the other, and
// under layouts made at random.
// passes: start-up
// timeout: 300
#include "property/graph_fuzzer.hpp"
#include "property/in_each.hpp"
#include "property/random_run.hpp"
#include "property/seeds.hpp"

using namespace property;

namespace {

std::int64_t extent_of(rng& c) {
  constexpr std::int64_t extents[] = {1, 2, 3, 5, 7};
  return extents[c.below(5)];
}

/// How many dims the tensors of a graph can take beside their own.
int room_for_dims(mt::module const& m) {
  int most = 0;
  for (int v = 0; v < m.value_count; ++v) most = std::max<int>(most, m.values[v].dims.count);
  for (int v = 0; v < m.variable_count; ++v) most = std::max<int>(most, m.variables[v].dims.count);
  return mt::max_dims_of_one - most;
}
/// The graph, or one in three times the graph in an each, if its tensors have room for two.
std::unique_ptr<mt::module> maybe_in_each(mt::module const& m, rng& c) {
  bool const nests = c.one_in(3);
  std::int64_t const extent = nests ? extent_of(c) : 1;
  if (nests && room_for_dims(m) >= 2) return std::move(in_each(*unwatched(m), extent, "inner").graph);
  return unwatched(m);
}

/// Returns how many graphs were tried.
long try_graphs(purpose what, std::uint64_t first, int count) {
  long tried = 0, nested = 0, refused = 0;
  each_seed(first, count, [&](std::uint64_t seed) {
    graph_fuzzer const a(seed, what, loops_of(seed));
    rng c{seed + 1};
    auto const m = maybe_in_each(a.g.module(), c);
    nested += m->dim_count != a.g.module().dim_count;
    std::string found;
    if (room_for_dims(*m) < 1) {
      ++refused, ++tried;
      return;
    }
    try {
      found = difference_in_each(
          *m, "main",
          {.extent = extent_of(c), .extents = extents_of(*m, 2, c), .fill = fill_kind::integers, .label = "outer"});
    } catch (mt::error const& e) {
      found = e.code() == "T07" ? "" : e.what();  // a tensor of a gradient that has 10 dims already
      refused += found.empty();
    }
    CHECK(found == "");
    ++tried;
  });
  MESSAGE(tried << " graphs, " << nested << " of them in two eaches, " << refused << " with too many dims");
  CHECK(10 * refused < tried + 10);
  return tried;
}

/// The programs of a seed in an each.
whole_programs programs_in_each(std::uint64_t seed) {
  rng c{seed};
  random_programs all = write_programs(c.next());
  std::int64_t const extent = 2 + c.below(2);
  auto const widened = [&](mt::module const& m) {
    in_each const each(*unwatched(m), extent);
    return mt::on_heap([&] { return mt::widen(*each.graph); });
  };
  all.traced = widened(*all.traced);
  if (all.in_f64) all.in_f64 = widened(*all.in_f64);
  bool const is_single = all.in_f64 != nullptr;
  auto const tolerance = is_single ? meshtensor_test::closeness{2e-2, 0.1} : meshtensor_test::closeness{1e-9, 1e-3};
  return {std::move(all), tolerance, true};
}

}  // namespace

TEST_CASE("graphs made at random give for every index what they give alone") {
  at_least(900, try_graphs(purpose::values, 6000001, 900));
}
TEST_CASE("gradients of graphs made at random are those of every index") {
  at_least(600, try_graphs(purpose::gradients, 6100001, 600));
}

TEST_CASE("graphs in an each under random layouts") {
  static auto const meshes = meshtensor_test::meshes();
  tally t;
  each_seed(6200001, 150, [&](std::uint64_t seed) {
    graph_fuzzer const a(seed, seed % 2 == 0 ? purpose::values : purpose::gradients, loops_of(seed));
    rng c{seed + 1};
    auto const m = maybe_in_each(a.g.module(), c);
    if (room_for_dims(*m) < 1) return;
    in_each const each(*m, 1 + c.below(3));
    auto const& mesh = meshes[static_cast<std::size_t>(c.below(static_cast<int>(meshes.size())))];
    subject s(*each.graph, "main", extents_of(*each.graph, mesh.size(), c));
    s.tolerance = 1e-9;
    s.fill(fill_kind::integers, c, 0, 0, static_cast<int>(mesh.size()));
    s.expect();
    auto dims = dims_for_layouts(*each.graph);
    for (int i = 0; i < 4; ++i) {
      if (std::size_t const extra = static_cast<std::size_t>(i % 2); extra != 0) dims = {"index", "inner"};
      s.check_layout(mesh, meshtensor_test::drawn_layout(dims, {"in", "op", "other", "out"}, mesh, c), t);
    }
  });
  t.say("graphs in an each");
  at_least(250, t.tried);
}

TEST_CASE("random programs in an each under random layouts, as threads") {
  random_run run(90, 700000, &programs_in_each);
  run.each(random_meshes(), fault_on_threads);
  run.say();
  if (!run.is_asked_for()) at_least(90, run.counted());
}
