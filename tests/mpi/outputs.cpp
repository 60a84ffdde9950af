// SPDX-License-Identifier: Apache-2.0
// What lies spread over ranks: outputs seen as blocks and as wholes, values of the store read and written by name.
// passes: start-up
// ranks: 2 4 6
#include <doctest/doctest.h>

#include "meshtensor/inspect/watched.hpp"
#include "meshtensor/meshtensor.hpp"
#include "ranks.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 4> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns", 24> {} columns;

inline constexpr struct data_axis : mt::axis<"data"> {} data;
inline constexpr struct model_axis : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};

struct grow {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows);
    auto const table = s.parameter("table", rows, columns);
    auto const y = einsum(x, table, to(batch, columns));
    s.output("y", y);
    s.output("table", table);
    s.output("sum", sum(table));
    s.watch("twice", y * 2);
    s.update(table, table + s.number("step", 1));
  }
};

struct replicated : mt::layout<> {};
struct both : mt::layout<mt::shard<batch, data>, mt::shard<columns, model>> {};
struct major_data : mt::layout<mt::shard<columns, data, model>> {};
struct major_model : mt::layout<mt::shard<columns, model, data>> {};

mt::array<float, rows, columns> counted() {
  mt::array<float, rows, columns> a;
  for (float n = 0; float& e : a) e = n++;
  return a;
}

template <class Layout>
void run(std::int64_t batches = 12) {
  mt::job job(0, nullptr);
  CHECK(job.processes() == ranks::count());
  mt::store weights(job, 3);
  mt::executable<grow, mesh, Layout, mt::reference_device> step(weights, batch(batches));
  // What it would be in one process.
  auto alone = mt::job::in_lockstep();
  mt::store others(alone, 3);
  mt::executable<grow, mesh, Layout, mt::reference_device> same(others, batch(batches), data(ranks::count() / 2));
  CHECK(weights.template get<float>("table") == others.template get<float>("table"));

  weights.set("table", counted());
  others.set("table", counted());
  CHECK(weights.template get<float>("table") == counted());
  mt::array<float, batch, rows> x(batch(batches));
  for (float n = 0; float& e : x) e = n++ / 4;
  for (int i = 0; i < 2; ++i) {
    auto const here = step(mt::feed<"x">(x));
    auto const there = same(mt::feed<"x">(x));
    CHECK(here.template get<"sum">() == there.template get<"sum">());
    auto const y = here.template get<"y">().gather();
    CHECK(y == there.template get<"y">().gather());
    auto const seen = step.watched("twice");
    REQUIRE(seen.size() == y.size());
    for (std::int64_t b = 0; b < y.extent(batch); ++b)
      for (std::int64_t c = 0; c < y.extent(columns); ++c)
        REQUIRE(seen(batch(b), columns(c)) == 2 * y(batch(b), columns(c)));
    CHECK(mt::watched(step) == mt::watched(same));
    auto const part = here.template get<"y">().local();
    CHECK(part.size() < y.size() + (ranks::count() == 1 || Layout::rules.count == 0));
    for (std::int64_t b = 0; b < part.extent(batch); ++b)
      for (std::int64_t c = 0; c < part.extent(columns); ++c)
        REQUIRE(part(batch(b), columns(c)) == y(batch(part.first(batch) + b), columns(part.first(columns) + c)));
    auto const table = here.template get<"table">().gather();
    CHECK(table(rows(2), columns(7)) == 2 * 24 + 7 + i);
  }
  CHECK(weights.template get<float>("table") == others.template get<float>("table"));
}

}  // namespace

TEST_CASE("replicated") { run<replicated>(); }
TEST_CASE("two dims over two axes") { run<both>(); }
TEST_CASE("one dim over two axes") { run<major_data>(); }
TEST_CASE("one dim over two axes, the other one major") { run<major_model>(); }
TEST_CASE("parts of two lengths") { run<both>(7); }

TEST_CASE("executables that are gone leave no workspaces behind") {
  mt::job job(0, nullptr);
  mt::store weights(job, 3);
  auto const use = [&] {
    mt::executable<grow, mesh, both, mt::reference_device> step(weights, batch(12));
    std::vector<float> const x(48, 0.5f);
    static_cast<void>(step(mt::feed<"x">(x)).get<"y">().gather());
  };
  auto const workspaces = [&] {
    std::int64_t bytes = 0;
    job.get().run(ranks::count(), [&](int, mt::transport& t) { bytes = t.workspace_bytes(); });
    return bytes;
  };
  use();
  std::int64_t const once = workspaces();
  for (int i = 0; i < 3; ++i) use();
  CHECK(workspaces() == once);
}
