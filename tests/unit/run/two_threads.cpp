// SPDX-License-Identifier: Apache-2.0
// Two threads step on one store: on plain loops and on a device with memory and queues of its own.
// passes: start-up
#include "unit/run/two_threads.hpp"

#include <functional>
#include <span>

#include "support/late_machine.hpp"

namespace mt = meshtensor;
using two_threads::batch, two_threads::data, two_threads::take_turns;

namespace {

std::function<void()> inside;  // what the operation below does besides
struct twice {
  static void run(std::span<double const> x, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
    if (inside) inside();
  }
};
struct calling {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch);
    s.output("y", mt::call<twice>(x) * x + s.number("more", 0));
  }
};
using called = mt::executable<calling, two_threads::mesh, two_threads::layout>;

}  // namespace

TEST_CASE("a step that meets another one takes nothing") {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job, 5);
  called one(weights, data(1)), two(weights, data(1));
  std::array<double, 6> const x{1, 2, 3, 4, 5, 6}, other{9, 9, 9, 9, 9, 9};
  for (called* second : {&one, &two}) {
    std::string said;
    inside = [&] {
      std::thread([&] {
        try {
          (*second)(mt::feed<"x">(other), mt::set<"more">(100), mt::set<"seed">(6));
        } catch (mt::error const& e) { said = e.what(); }
      }).join();
    };
    one(mt::feed<"x">(x));
    inside = nullptr;
    CHECK(said ==
          "meshtensor R27: a store is asked for a step while it is in one, by another thread of the program or from "
          "inside the step: its executables take turns");
    auto const y = one.gather<"y">();
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(y.data()[i] == 2 * x[i] * x[i]);
    CHECK(weights.seed() == 5);
    one();  // with the inputs and numbers that it had
    CHECK(one.gather<"y">().data()[5] == 72);
  }
  CHECK(one.steps() == 4);
}

TEST_CASE("an executable that is made during a step is refused") {
  for (bool as_threads : {false, true}) {
    auto const job = as_threads ? mt::job::as_threads() : mt::job::in_lockstep();
    mt::store weights(job);
    called one(weights, data(1));
    std::array<double, 6> const x{1, 2, 3, 4, 5, 6};
    std::string said;
    inside = [&] {
      std::thread([&] {
        try {
          called const other(weights, data(1));
        } catch (mt::error const& e) { said = e.what(); }
      }).join();
    };
    one(mt::feed<"x">(x));
    inside = nullptr;
    CHECK(said ==
          "meshtensor R27: a store is asked for an executable while it is in a step or makes another one, by another "
          "thread of the program or from inside the step: its executables take turns");
    CHECK(one.gather<"y">().data()[5] == 72);
    called(weights, data(1))(mt::feed<"x">(x));  // the next turn
    CHECK(one.steps() == 2);
  }
}

TEST_CASE("two threads take turns") {
  SUBCASE("in lockstep") { take_turns<mt::reference_device>(mt::job::in_lockstep(), 2, 200); }
  SUBCASE("threads") { take_turns<mt::reference_device>(mt::job::as_threads(), 2, 200); }
  SUBCASE("memory and queues of its own") {
    meshtensor_test::late_here here;
    take_turns<meshtensor_test::late_device>(mt::job::as_threads(), 2, 50);
  }
}
