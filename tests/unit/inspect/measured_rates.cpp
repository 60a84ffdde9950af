// SPDX-License-Identifier: Apache-2.0
// What a job measures of its machine: the links of a model of a network as they are, and those of threads as rates.
// passes: start-up
#include "meshtensor/inspect/measured_rates.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/inspect/simulate.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rows : mt::dim<"rows", 12> {} rows;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<rows, data>> {};
struct double_all {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, rows) * 2); }
};
/// A device that knows its rates.
struct rated_device : mt::reference_device {
  static mt::rates best_rates() { return {3e9, 2e9}; }
};

mt::mesh_shape mesh_of(std::int64_t on_data, std::int64_t on_model) {
  return mt::mesh_shape{}.add("data", on_data).add("model", on_model);
}

}  // namespace

TEST_CASE("the links of a model are found again") {
  std::vector<mt::link> const links{{"data", 5e-3, 1e8}, {"model", 2e-3, 4e8}};
  auto const job = mt::simulated(links);
  for (auto const& shape : {mesh_of(4, 2), mesh_of(3, 5)}) {
    std::vector<mt::link> const found = mt::detail::measured_links(job.get(), shape);
    REQUIRE(found.size() == 2);
    for (std::size_t a = 0; a < 2; ++a) {
      CHECK(found[a].axis == links[a].axis);
      CHECK(found[a].latency == doctest::Approx(links[a].latency).epsilon(0.1));
      CHECK(found[a].bytes_per_second == doctest::Approx(links[a].bytes_per_second).epsilon(0.1));
    }
  }
  std::vector<mt::link> const of_one_axis = mt::detail::measured_links(job.get(), mesh_of(1, 6));
  REQUIRE(of_one_axis.size() == 1);
  CHECK(of_one_axis[0].axis == mt::name("model"));
}

TEST_CASE("threads have links, one rank and ranks in lockstep have none") {
  auto const threads = mt::job::as_threads();
  auto const found = mt::detail::measured_links(threads.get(), mesh_of(2, 2));
  REQUIRE(found.size() == 2);
  for (mt::link const& l : found) {
    CHECK(l.latency > 0);
    CHECK(l.bytes_per_second > 0);
    CHECK(std::isfinite(l.bytes_per_second));
  }
  CHECK(mt::detail::measured_links(threads.get(), mesh_of(1, 1)).empty());
  CHECK(mt::detail::measured_links(mt::job::in_lockstep().get(), mesh_of(2, 2)).empty());
}

TEST_CASE("an executable has the rates of its device, and runs on") {
  auto const job = mt::job::as_threads();
  mt::store none(job);
  mt::executable<double_all, mesh, layout, rated_device> step(none, data(2), model(2));
  mt::page_rates const found = mt::measured_rates(step);
  CHECK(found.processor.flops == 3e9);
  CHECK(found.processor.bytes == 2e9);
  CHECK(found.source == "measured");
  CHECK(found.links.size() == 2);
  CHECK(step(mt::feed<"x">(std::vector<float>(12, 1))).get<"y">().gather()(rows(7)) == 2);
  mt::executable<double_all, mesh, layout, mt::reference_device> const plain(none, data(2), model(2));
  CHECK(mt::measured_rates(plain).processor.flops == 0);
  CHECK(mt::measured_rates(plain).links.empty());
}
