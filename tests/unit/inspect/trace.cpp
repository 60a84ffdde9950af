// SPDX-License-Identifier: Apache-2.0
// A trace of ranks that are threads: rows with coordinates, and arrows along the axes of a mesh.
// tests/mpi/timelines.cpp has that of processes.
// passes: start-up
#include "meshtensor/inspect/trace_events.hpp"

#include <doctest/doctest.h>

#include <set>

#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/kept_warnings.hpp"
#include "support/trace_reader.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch", 12> {} batch;
inline constexpr struct width : mt::dim<"width", 12> {} width;
inline constexpr struct inner : mt::dim<"inner", 12> {} inner;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<inner, model>> {};

/// One sum over the model axis, and one over the data axis.
struct network {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const h = tanh(einsum(x, s.parameter("in", width, inner), to(batch, inner)));
    auto const y = einsum(h, s.parameter("out", inner, width), to(batch, width));
    s.output("y", y);
    s.output("total", sum(y, batch, width));
  }
};
using step_of_test = mt::executable<network, mesh, layout, mt::reference_device>;

meshtensor_test::checked_trace trace_of(mt::job const& job, int over_data, int over_model, int steps) {
  mt::store weights(job);
  step_of_test step(weights, data(over_data), model(over_model));
  step.record();
  for (int i = 0; i < steps; ++i) step(mt::feed<"x">(std::vector<float>(144, 1)));
  return meshtensor_test::checked(mt::trace_events(step));
}

}  // namespace

TEST_CASE("rows have the coordinates of their ranks, and arrows stay on an axis") {
  for (auto const& [over_data, over_model] : {std::pair{1, 1}, {2, 1}, {1, 3}, {2, 2}, {3, 2}, {2, 3}}) {
    CAPTURE(over_data);
    CAPTURE(over_model);
    auto const trace = trace_of(mt::job::as_threads(), over_data, over_model, 2);
    int const ranks = over_data * over_model;
    CHECK(static_cast<int>(trace.names.size()) == ranks);
    CHECK(trace.process_names.size() == 1);
    for (int r = 0; r < ranks; ++r)
      CHECK(trace.names.at(r) == "rank " + std::to_string(r) + " · data " + std::to_string(r / over_model) +
                                     ", model " + std::to_string(r % over_model));
    // Of each sum and step: in each group over an axis all ranks but one wait.
    int const over_axes = (over_model - 1) * over_data + (over_data - 1) * over_model;
    CHECK(static_cast<int>(trace.arrows.size()) == 2 * over_axes);
    for (auto const& [from, to] : trace.arrows) {
      long const a = from.thread - 1, b = to.thread - 1;
      CHECK((a / over_model == b / over_model) != (a % over_model == b % over_model));
    }
  }
}

TEST_CASE("in lockstep all ranks share a row") {
  auto const trace = trace_of(mt::job::in_lockstep(), 2, 2, 1);
  CHECK(trace.bars.size() == 1);
  CHECK(trace.names.at(0) == "ranks 0 to 3 in lockstep");
  CHECK(trace.arrows.empty());
}

TEST_CASE("the last rank to come is the one that the others have waited for") {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  step_of_test const step(weights, data(1), model(3));
  mt::module const& m = step.graph();
  mt::node_id sum{};
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == mt::primitive::all_reduce && mt::axes_of_collective(m.nodes[i]) == 0b10)
      sum = static_cast<mt::node_id>(i);
  REQUIRE(m.nodes[sum].kind == mt::primitive::all_reduce);
  std::vector<mt::detail::trace_bar> const bars{{0, sum, 10, 100},  {1, sum, 90, 100},  {2, sum, 50, 100},
                                                {0, sum, 210, 300}, {1, sum, 220, 300}, {2, sum, 230, 300}};
  std::set<std::tuple<int, int, double>> found;
  for (auto const& a : mt::detail::arrows_of_trace(m, step.planned(), step.bound_mesh(), bars).all())
    found.emplace(a.from.rank, a.to.rank, a.from.begin);
  CHECK(found == std::set<std::tuple<int, int, double>>{{1, 0, 90}, {1, 2, 90}, {2, 0, 230}, {2, 1, 230}});
}

TEST_CASE("a trace that does not have all steps says so") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  step_of_test const step(weights, data(1), model(2));
  meshtensor_test::own_folder const folder;
  std::string const file = folder / "steps.json";
  // The warnings about a trace of steps of three bars, of which the second rank keeps two more than the first one.
  auto const warnings_of = [&](int steps, std::size_t most_bars, int warm_up = 0) {
    mt::timeline first(step.graph().node_count, warm_up, most_bars),
        second(step.graph().node_count, warm_up, most_bars + 2);
    for (int i = 0; i < steps; ++i)
      for (mt::timeline* t : {&first, &second}) {
        t->begin_step(i * 100);
        for (int at = i * 100; at < i * 100 + 30; at += 10) t->enter(at), t->leave(mt::node_id{0}, at + 5);
        t->end_step(i * 100 + 50);
      }
    meshtensor_test::kept_warnings const told;
    CHECK(mt::detail::write_recorded(step.runner(), step.graph(), step.planned(), step.bound_mesh(), {0, 1},
                                     {&first, &second}, file));
    return told.said;
  };
  auto const warning = [&] { return meshtensor_test::checked(meshtensor_test::content(file)).warning; };
  using sentences = std::vector<std::string>;
  CHECK(warnings_of(4, 12).empty());
  CHECK(warning().empty());
  std::string const rest = " recorded steps, because it has at most 7 bars of each rank: record fewer steps";
  CHECK(warnings_of(4, 7) == sentences{"R98: the trace '" + file + "' ends in step 3 of 4" + rest});
  CHECK(warning() == "this trace ends in step 3 of 4" + rest);
  CHECK(warnings_of(6, 7, 1) == sentences{"R98: the trace '" + file + "' ends in step 3 of 5" + rest});
  CHECK(warnings_of(4, 7, 3).empty());  // only steps that were forgotten had too many bars
}
