// SPDX-License-Identifier: Apache-2.0
// In lockstep a collective does its work at the moment that is chosen: until then its result holds garbage.
#include "meshtensor/job/lockstep.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "meshtensor/pass/overlap_collectives.hpp"
#include "unit/pass/planned.hpp"

using namespace meshtensor_test;

namespace {

/// A sum over processors that is needed only behind something else.
struct sums_early {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = s.input("y", mt::f32, in);
    auto const total = sum(x, batch);
    auto const beside = tanh(y) * 2;
    s.output("z", total * total + beside);
  }
};

struct looked_at {
  int on_its_way = 0, garbage = 0, there = 0;
};
bool is_garbage(mt::rank_context const& p, mt::value_id v) {
  auto const* const first = p.pointer(v);
  return std::all_of(first, first + p.bytes(v), [](std::byte b) { return b == std::byte{0xff}; });
}
looked_at look(mt::collective_timing timing) {
  mt::layout_rules rules{};
  rules.shard("batch", {"ax"});
  planned<sums_early> s(rules, 3);
  mt::module const& m = s.low->graph;
  REQUIRE(mt::count_overlapped(m, s.plan().steps) == 1);
  auto const job = mt::job::in_lockstep(timing);
  mt::store values(job);
  mt::session<mt::reference_device> run(values, m, s.plan(), s.mesh, s.low->entry);
  std::vector<float> const x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, y{0.5f, 1, 1.5f, 2};
  run.feed("x", x.data()), run.feed("y", y.data());
  auto const awaited = mt::awaited_values(m, s.plan().numbers);
  looked_at seen;
  run.observe([&](mt::node const& n, std::span<mt::rank_context const> all) {
    for (mt::rank_context const& p : all) {
      if (n.results.count == 0) continue;
      mt::value_id const v = m.result(n);
      if (n.kind == mt::primitive::wait) seen.there += !is_garbage(p, v);
      if (!awaited[v]) continue;
      ++seen.on_its_way;
      seen.garbage += is_garbage(p, v);
    }
  });
  run.step();
  return seen;
}

}  // namespace

TEST_CASE("results come when the timing says") {
  for (mt::collective_timing const timing : mt::collective_timings) {
    INFO(mt::text_of(timing));
    looked_at const seen = look(timing);
    CHECK(seen.on_its_way == 3);
    CHECK(seen.garbage == (timing == mt::collective_timing::at_once ? 0 : 3));
    CHECK(seen.there == 3);
  }
}
