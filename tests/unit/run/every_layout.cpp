// SPDX-License-Identifier: Apache-2.0
// The two-layer network trains the same under every layout of every mesh, bound at start-up, in lockstep.
// timeout: 300
#include <doctest/doctest.h>

#include <map>

#include "property/sample.hpp"
#include "support/layouts.hpp"
#include "two_layers.hpp"

namespace mt = meshtensor;
using net = two_layers::network<mt::extent_rule{}, 0, 0>;
struct train_step : mt::precision<net::train_step, mt::f64> {};
struct evaluate : mt::precision<net::evaluate, mt::f64> {};

namespace {

struct run_result {
  std::vector<double> losses;
};

run_result train(mt::module const& traced, mt::mesh_shape const& mesh, mt::layout_rules const& rules, int steps) {
  static two_layers::samples<double> const data(24);
  std::array const extents{net::batch(24)};
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  auto const step = mt::lower(traced, "train_step", mesh, rules, extents);
  auto const check = mt::lower(traced, "evaluate", mesh, rules, extents);
  mt::session<mt::reference_device> run(weights, step->graph, step->planned, mesh, step->entry);
  mt::session<mt::reference_device> look(weights, check->graph, check->planned, mesh, check->entry);
  for (auto* s : {&run, &look}) s->feed("image", data.images.data()), s->feed("label", data.labels.data());
  look.set("dropout", 0);
  run_result r;
  for (int i = 0; i < steps; ++i) {
    run.step();
    r.losses.push_back(run.whole("loss").number_at(0));
  }
  look.step();
  r.losses.push_back(look.whole("loss").number_at(0));
  return r;
}

}  // namespace

TEST_CASE("every layout of every mesh gives the same training") {
  auto const traced = mt::on_heap([] { return mt::trace<mt::programs<train_step, evaluate>>(); });
  auto const expected = train(*traced, {}, {}, 3);
  CHECK(expected.losses[2] < expected.losses[0] - 0.5);
  std::vector<mt::name> const dims{"batch", "hidden", "inner", "classes", "pixels"};
  std::map<std::string, int> skipped;
  int tried = 0;
  std::uint64_t number = 0;
  for (auto const& mesh : meshtensor_test::meshes()) {
    meshtensor_test::each_layout(dims, mesh, [&](mt::layout_rules const& rules) {
      if (mesh.count == 3 && number % 7 != 0) return void(++number);  // a sample of the 1,024
      if (!property::is_in_even_sample(number++)) return;
      try {
        auto const got = train(*traced, mesh, rules, 3);
        ++tried;
        for (std::size_t i = 0; i < got.losses.size(); ++i) {
          CAPTURE(meshtensor_test::text_of(rules));
          CAPTURE(mesh.size());
          REQUIRE(got.losses[i] == doctest::Approx(expected.losses[i]).epsilon(1e-9));
        }
      } catch (mt::error const& e) { ++skipped[e.code()]; }
    });
  }
  MESSAGE("layouts tried: ", tried, ", not legal: S05 ", skipped["S05"]);
  CHECK(skipped.size() <= 1);
  property::at_least(200, tried);
}

TEST_CASE("a long run falls and repeats bit for bit") {
  auto const traced = mt::on_heap([] { return mt::trace<mt::programs<train_step, evaluate>>(); });
  mt::mesh_shape mesh{};
  mesh.add("data", 2).add("model", 2);
  mt::layout_rules rules{};
  rules.shard("batch", {"data"}).shard("inner", {"model"}).shard("hidden", {"data"}, "optimizer");
  auto const once = train(*traced, mesh, rules, 20), again = train(*traced, mesh, rules, 20),
             alone = train(*traced, {}, {}, 20);
  CHECK(once.losses == again.losses);
  CHECK(once.losses[19] < once.losses[0] - 0.5);
  for (std::size_t i = 0; i < once.losses.size(); ++i)
    CHECK(once.losses[i] == doctest::Approx(alone.losses[i]).epsilon(1e-9));
}
