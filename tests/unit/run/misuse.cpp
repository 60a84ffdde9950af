// SPDX-License-Identifier: Apache-2.0
// Mistakes that types do not catch: each is one sentence with its code, and so is what no pass should ask for.
//
// passes: start-up
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "meshtensor/eager/eager.hpp"
#include "meshtensor/inspect/profile.hpp"
#include "meshtensor/inspect/trace_events.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/pass/reshard.hpp"
#include "support/folder.hpp"
#include "unit/run/small_programs.hpp"

using namespace small;
using meshtensor_test::sentence;

namespace {

bool says(std::string const& text, std::string const& code, std::string const& words) {
  INFO(text);
  CHECK(text.starts_with("meshtensor " + code));
  return text.find(words) != std::string::npos;
}

inline constexpr struct layers : mt::dim<"layers", 3> {} layers;
mt::array<float, columns> const row({1, 2, 3, 4, 5, 6});

/// A module with one entry, which a test builds by hand.
struct by_hand {
  std::unique_ptr<mt::module> m{new mt::module{}};
  mt::builder b{*m};
  mt::shape rows_alone{};

  by_hand() {
    b.begin_region(mt::region_kind::entry, b.intern("main"));
    rows_alone.add(b.dim(mt::name("rows"), 4));
  }
  mt::node_id add_node() { return b.add_node(mt::primitive::argument, 0, {}); }
};

}  // namespace

TEST_CASE("tensors and numbers of another scope") {
  mt::eager one, other;
  auto const x = one(row), y = other(row);
  CHECK(says(sentence([&] { (void)one.value(x + y); }), "G18", "a tensor of one program is used in another"));
  mt::eager third;
  auto const z = third(row);
  auto const w = third.parameter("w", columns);
  CHECK(says(sentence([&] { mt::sgd{}.minimize(one / "sgd", sum(z * w)); }), "G18", "used in another"));
}

TEST_CASE("the value of an eager tensor inside a loop") {
  mt::eager s;
  auto const x = s(row);
  auto const ask = [&] {
    mt::repeat(s, layers, x, [&](auto, auto h) {
      (void)s.value(x);
      return h;
    });
  };
  CHECK(says(sentence(ask), "G29", "inside a loop, branch or each"));
}

TEST_CASE("nodes by hand") {
  by_hand results;
  auto const first = results.add_node();
  auto const add_result = [&](mt::node_id n) { results.b.add_result(n, mt::dtype::f32, results.rows_alone); };
  add_result(first), add_result(results.add_node());
  CHECK(says(sentence([&] { add_result(first); }), "G19", "added to the last node only"));

  for (bool const is_loops : {true, false}) {
    by_hand loop;
    auto const stacked = loop.b.add_result(loop.add_node(), mt::dtype::f32, loop.rows_alone);
    auto const along = is_loops ? static_cast<mt::dim_id>(loop.rows_alone.at[0]) : loop.b.dim(mt::name("layers"), 3);
    loop.b.begin_frame(mt::region_kind::body, mt::no_id, along, true);
    auto const said = sentence([&] { loop.b.add_stacked(stacked); });
    if (is_loops) CHECK(said.empty());
    else CHECK(says(said, "G22", "leads with the dim of its loop"));
  }
}

TEST_CASE("placements that no collective makes") {
  by_hand g;
  g.m->axes[g.m->axis_count++] = {g.b.intern("data"), 2, {}};
  auto const whole = g.b.add_result(g.add_node(), mt::dtype::f32, g.rows_alone);
  mt::placement partial{};
  partial.set_part(0, mt::reduction::sum);
  CHECK(says(sentence([&] { mt::reshard(g.b, whole, partial); }), "S20", "cannot be resharded"));
}

TEST_CASE("names that a session does not know, and a job without transport") {
  auto const traced = mt::on_heap([] { return mt::trace<look>(); });
  auto const low = mt::lower(*traced, mt::entry_name<look>(), {}, {}, {});
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::session<mt::reference_device> run(weights, low->graph, low->planned, {}, low->entry);
  CHECK(says(sentence([&] { run.set("stop", 1); }), "R07", "the program has no number 'stop'"));
  run.step();
  CHECK(says(sentence([&] { (void)run.local("twine"); }), "R08", "'twine'"));
  CHECK(says(sentence([&] { weights.runner().run(2, [](int, mt::transport&) {}); }), "R03", "in lockstep"));
}

TEST_CASE("a profile of nothing") {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<look, mesh, spread> step(weights, data(1));
  CHECK(says(sentence([&] { (void)mt::profile(step); }), "R16", "call record()"));
  CHECK(says(sentence([&] { (void)mt::trace_events(step); }), "R16", "call record()"));
  step.record();
  CHECK(says(sentence([&] { (void)mt::profile(step); }), "R16", "then run some steps"));
  step();
  CHECK(!mt::profile(step).empty());
}
