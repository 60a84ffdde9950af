// SPDX-License-Identifier: Apache-2.0
// Steps that the compiler has written out give the bits of the engine that reads a list: in lockstep and on threads, on
// the reference device; they can be recorded and observed; their costs are constants.
// timeout: 300
// alone
#include "meshtensor/job/local_runners.hpp"
#include "support/compiled_steps.hpp"

using namespace compiled_steps;
using two_by_two = on<2, 2>;

TEST_CASE("on threads") { check_all<two_by_two, mt::reference_device>(mt::job::as_threads()); }

TEST_CASE("in lockstep") {
  auto const job = mt::job(std::make_unique<mt::lockstep_runner<>>());
  check_same<stacked_layers, two_by_two::mesh, two_by_two::spread, mt::reference_device>(job, job, 7 * 4);
}

TEST_CASE("beside a larger program, for which the arena moves") {
  auto const job = mt::job::as_threads();
  mt::store here(job), there(job);
  mt::compiled_step<two_layers, two_by_two::mesh, two_by_two::layout> step(here);
  mt::executable<two_layers, two_by_two::mesh, two_by_two::layout> other(there);
  std::vector<float> const x = numbers(12 * 4), of_stack = numbers(7 * 4);
  float const first = step(mt::feed<"x">(x)).get<"loss">();
  CHECK(first == other(mt::feed<"x">(x)).get<"loss">());
  mt::executable<stacked_layers, two_by_two::mesh, two_by_two::spread> larger(here);
  REQUIRE(larger.planned().arena_bytes > step.planned().arena_bytes);
  for (int i = 0; i < 3; ++i) {
    larger(mt::feed<"x">(of_stack));
    float fetched = -1;
    step(mt::feed<"x">(x), mt::fetch_local<"loss">(&fetched));
    CHECK(fetched == other(mt::feed<"x">(x)).get<"loss">());
  }
}

TEST_CASE("recorded and observed") {
  auto const job = mt::job::as_threads();
  mt::store here(job), there(job);
  mt::compiled_step<stacked_layers, two_by_two::mesh, two_by_two::spread> step(here);
  mt::executable<stacked_layers, two_by_two::mesh, two_by_two::spread> other(there);
  std::vector<float> const x = numbers(7 * 4);
  step(mt::feed<"x">(x)), other(mt::feed<"x">(x));
  step.record(), other.record();
  step.check_numerics(), other.check_numerics();
  CHECK(step(mt::feed<"x">(x)).get<"loss">() == other(mt::feed<"x">(x)).get<"loss">());
  REQUIRE(step.recorded().size() == 4);
  for (std::size_t k = 0; k < 4; ++k) {
    auto const &mine = step.recorded()[k]->totals(), &its = other.recorded()[k]->totals();
    REQUIRE(mine.size() == its.size());
    std::int64_t calls = 0;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      CHECK(mine[i].calls == its[i].calls);
      calls += mine[i].calls;
    }
    CHECK(calls > 50);
  }
  std::vector<float> bad = x;
  bad[5] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH_AS(step(mt::feed<"x">(bad)), doctest::Contains("R32"), mt::error);
}

TEST_CASE("costs") {
  using step = mt::compiled_step<two_layers, two_by_two::mesh, two_by_two::layout>;
  using read = mt::executable<two_layers, two_by_two::mesh, two_by_two::layout>;
  constexpr mt::step_constants costs = mt::constants_of<step>;
  static_assert(costs.messages == mt::traffic<two_layers, two_by_two::mesh, two_by_two::layout>.messages);
  static_assert(costs.bytes > 0 && costs.peak > 0);
  static_assert(costs.launches == mt::constants_of<read>.launches);
  auto const job = mt::job::as_threads();
  mt::store values(job);
  step one(values);
  std::vector<int> seen(4);
  one.running().observe([&](mt::node const& n, std::span<mt::rank_context const> held) {
    bool const is_launched = !mt::is_collective(n.kind) && n.kind != mt::primitive::wait &&
                             n.kind != mt::primitive::input && n.kind != mt::primitive::read &&
                             n.kind != mt::primitive::write && n.kind != mt::primitive::output &&
                             n.kind != mt::primitive::local_slice && n.kind != mt::primitive::composite;
    seen[static_cast<std::size_t>(held[0].rank())] += is_launched;
  });
  one(mt::feed<"x">(numbers(12 * 4)));
  for (int const n : seen) CHECK(n == costs.launches);
}
