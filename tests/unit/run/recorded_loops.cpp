// SPDX-License-Identifier: Apache-2.0
// Loops that may end early on a device whose queues run late and out of order, with memory that nobody else can touch:
// every bit of the reference device, with none, some and all iterations, in each other, forwards and backwards.
// passes: start-up
#include <doctest/doctest.h>

#include "support/early_loops.hpp"
#include "support/late_machine.hpp"

using namespace early_loops;
using meshtensor_test::late_device;
using meshtensor_test::late_here;

namespace {

inline constexpr auto plain = [](auto&, int) {};

template <class Program, class Layout>
void same_bits(int data_size, int model_size, auto const& each) {
  CAPTURE(data_size);
  CAPTURE(model_size);
  mt::job const job = mt::job::in_lockstep();
  auto const wanted = all_steps<Program, Layout, mt::reference_device>(job, data_size, model_size, plain);
  late_here const here(static_cast<std::uint64_t>(data_size), 3);
  CHECK(all_steps<Program, Layout, late_device>(job, data_size, model_size, each) == wanted);
  CHECK(here.machine.out_of_order > 0);
  CHECK(here.machine.blocks() == 0);
  CHECK(here.machine.host_blocks() == 0);
}

}  // namespace

TEST_CASE("a loop") {
  same_bits<one, by_batch>(1, 1, plain);
  same_bits<one, by_batch>(4, 1, plain);
  same_bits<one, in_parts>(3, 2, plain);
}
TEST_CASE("a loop and a branch in a loop") {
  same_bits<nested, by_batch>(1, 1, plain);
  same_bits<nested, in_parts>(3, 2, plain);
}
TEST_CASE("a loop in a loop over layers, and one in it") {
  same_bits<in_layers, by_batch>(1, 1, plain);
  same_bits<in_layers, in_parts>(3, 2, plain);
}

TEST_CASE("single nodes can be looked at, and their time taken, with any number of iterations") {
  auto const looked_at = [](auto& step, int number) {
    if (number == 1) step.check_numerics();
    if (number == 4) step.check_numerics(false), step.record();
    if (number != 7) return;
    CHECK(step.recorded().size() == 1);
    step.record(false);
  };
  same_bits<nested, in_parts>(3, 2, looked_at);
  same_bits<in_layers, in_parts>(2, 1, looked_at);
}

TEST_CASE("a kernel that fails in an iteration is one error, and nothing is lost") {
  mt::job const job = mt::job::in_lockstep();
  mt::store plain_values(job, 5), values(job, 5);
  executable<one, in_parts, mt::reference_device> reference(plain_values, data(2), model(2));
  late_here here(2, 3);
  executable<one, in_parts, late_device> step(values, data(2), model(2));
  CHECK(one_step(step, 1) == one_step(reference, 1));
  here.machine.fails_at = "tanh";
  CHECK_THROWS_AS(one_step(step, 4), mt::error);
  here.machine.fails_at = "";
  CHECK(here.machine.is_idle());
  for (auto const& [path, value] : plain_values.values()) values.set(path, plain_values.get<double>(path));
  for (std::int64_t n : {4, 0, 2}) CHECK(one_step(step, n) == one_step(reference, n));
  for (auto& [path, value] : values.values()) value.block_of(0);  // home, before the machine ends
}

namespace {

/// Far more iterations than can be kept.
struct far {
  constexpr void operator()(mt::scope auto s) const {
    auto const n = s.input("n", mt::i64);
    auto const x = s.input("x", mt::f64);
    auto const [count, last, y] = while_loop(
        s / "far", mt::at_most(1'000'000'000), [&](auto, auto k, auto) { return k < n; },
        [&](auto, auto k, auto h) { return std::tuple(k + 1, h * 0.999 + x); }, n * 0, x);
    s.output("count", count), s.output("y", y);
  }
};

}  // namespace

TEST_CASE("a limit costs nothing, and only so many iterations are kept") {
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job);
  late_here const here(3, 2);
  mt::executable<far, mt::mesh<>, mt::layout<>, late_device> step(values);
  for (std::int64_t n : {3, 5'000, 0, 5'001}) {
    CAPTURE(n);
    double wanted = 0.25;
    for (std::int64_t k = 0; k < n; ++k) wanted = wanted * 0.999 + 0.25;
    auto const given = step(mt::feed<"x">(0.25), mt::feed<"n">(n));
    CHECK(given.get<"count">() == n);
    CHECK(given.get<"y">() == wanted);
  }
}
