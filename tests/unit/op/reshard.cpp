// SPDX-License-Identifier: Apache-2.0
// A tensor that is asked to lie otherwise: the values stay, the communication is where it was asked for.
#include "meshtensor/op/reshard.hpp"

#include "meshtensor/meshtensor.hpp"
#include "unit/op/laws.hpp"

namespace mt = meshtensor;
namespace {
constexpr struct batch : mt::dim<"batch", 8> {} batch;
constexpr struct width : mt::dim<"width", 12> {} width;
constexpr struct model : mt::axis<"model", 2> {} model;

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f64, batch, width);
    auto y = mt::reshard(x * 2, mt::shard<width, model>{}, mt::replicate<batch>{});
    auto w = s.parameter("w", width, mt::ones);
    auto loss = mt::sum(y * w + x);
    s.output("loss", loss);
    s.output("slope", mt::gradient(loss, w));
  }
};

int count(mt::module const& m, mt::primitive kind) {
  int n = 0;
  for (int i = 0; i < m.node_count; ++i) n += m.nodes[i].kind == kind;
  return n;
}
}  // namespace

TEST_CASE("reshard keeps the values and moves the communication") {
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<program, mt::f64>>(); });
  mt::mesh_shape mesh{};
  mesh.add("data", 2).add("model", 2);
  mt::layout_rules rules{};
  rules.shard("batch", {"data"});
  auto const l = mt::lower(*traced, "program", mesh, rules, {});
  CHECK(count(l->graph, mt::primitive::all_gather) >= 1);
  CHECK(count(l->graph, mt::primitive::local_slice) >= 1);
  CHECK(mt::verify(l->graph).empty());
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::session<mt::reference_device> run(weights, l->graph, l->planned, mesh, l->entry);
  std::vector<double> x(96);
  double expected = 0;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7), expected += 3 * x[i];
  run.feed("x", x.data());
  run.step();
  CHECK(run.whole("loss").number_at(0) == expected);
  for (int k = 0; k < 12; ++k) {
    double column = 0;
    for (int b = 0; b < 8; ++b) column += 2 * x[static_cast<std::size_t>(b * 12 + k)];
    CHECK(run.whole("slope").number_at(k) == column);
  }
}

TEST_CASE("reshard refuses an axis that is not there, or taken") {
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<program, mt::f64>>(); });
  mt::mesh_shape mesh{};
  mesh.add("data", 2);
  CHECK_THROWS_WITH_AS(mt::lower(*traced, "program", mesh, {}, {}), doctest::Contains("which the mesh does not have"),
                       mt::error);
}

TEST_CASE("laws") {
  laws::hold("another layout, the same values", [](auto, auto x, auto y, auto...) {
    return mt::reshard(x * y, mt::shard<laws::c, model>{}, mt::replicate<laws::b>{}) * y;
  });
}
