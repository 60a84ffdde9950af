// SPDX-License-Identifier: Apache-2.0
// Ranks measure the network along each axis of their mesh, and one of them alone writes the page that the environment
// asks for.
// passes: start-up
// ranks: 1 2 4 6
// needs: mpi
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "meshtensor/inspect/environment.hpp"
#include "meshtensor/inspect/explain_html.hpp"
#include "meshtensor/meshtensor.hpp"
#include "mpi/ranks.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;
using meshtensor_test::content;

namespace {

inline constexpr struct rows : mt::dim<"rows", 12> {} rows;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<rows, data>> {};
struct double_all {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, rows) * 2); }
};
struct rated_device : mt::reference_device {
  static mt::rates best_rates() { return {3e9, 2e9}; }
};
using step_of_test = mt::executable<double_all, mesh, layout, rated_device>;

std::int64_t on_model() { return ranks::count() % 2 == 0 ? 2 : 1; }

}  // namespace

TEST_CASE("all axes of several ranks have a measured link") {
  mt::job const job(MPI_COMM_WORLD);
  mt::store none(job);
  step_of_test step(none, data(ranks::count() / on_model()), model(on_model()));
  for (int again = 0; again < 2; ++again) {
    mt::page_rates const found = mt::measured_rates(step);
    CHECK(found.source == "measured");
    std::size_t const axes = ranks::count() == 1 ? 0 : ranks::count() == 2 ? 1 : 2;
    REQUIRE(found.links.size() == axes);
    for (mt::link const& l : found.links) {
      CHECK(l.latency > 0);
      CHECK(l.latency < 10);
      CHECK(l.bytes_per_second > 1e3);
      CHECK(std::isfinite(l.bytes_per_second));
    }
    if (axes == 2) CHECK(found.links[0].axis == mt::name("data"));
    if (axes != 0) CHECK(found.links.back().axis == mt::name("model"));
    CHECK(step(mt::feed<"x">(std::vector<float>(12, 1))).get<"y">().gather()(rows(7)) == 2);
  }
}

TEST_CASE("one rank writes the page of an executable") {
  meshtensor_test::own_folder const folder;  // of this rank
  mt::job const job(MPI_COMM_WORLD);
  mt::store none(job);
  ::setenv("MESHTENSOR_EXPLAIN", (folder / "step.html").c_str(), 1);
  step_of_test step(none, data(ranks::count() / on_model()), model(on_model()));
  ::unsetenv("MESHTENSOR_EXPLAIN");
  std::string const page = content(folder / "step.html");
  CHECK(page.empty() == (ranks::rank() != 0));
  if (ranks::rank() == 0) {
    CHECK(page.find(" data-ranks=\"" + std::to_string(ranks::count()) + "\"") != page.npos);
    // The network is not measured here, because other ranks may not have the variable.
    CHECK(page == mt::page({mt::on_page("double_all", step, {{3e9, 2e9}, {}, "measured"})}));
  }
}

TEST_CASE("a rank that lacks the variable is not waited for") {
  meshtensor_test::own_folder const folder;
  mt::job const job(MPI_COMM_WORLD);
  mt::store none(job);
  if (ranks::rank() == 0) ::setenv("MESHTENSOR_EXPLAIN", (folder / "step.html").c_str(), 1);
  step_of_test step(none, data(ranks::count() / on_model()), model(on_model()));
  ::unsetenv("MESHTENSOR_EXPLAIN");
  CHECK(step(mt::feed<"x">(std::vector<float>(12, 1))).get<"y">().gather()(rows(3)) == 2);
  bool is_there = false;
  for (auto const& file : std::filesystem::directory_iterator(folder.path()))
    is_there = is_there || content(file.path().string()).starts_with("<!DOCTYPE html>");
  CHECK(is_there == (ranks::rank() == 0));
}
