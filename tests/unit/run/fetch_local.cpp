// SPDX-License-Identifier: Apache-2.0
// A process that holds all ranks gets whole outputs in arrays of its own: on threads and in lockstep, on plain loops,
// on the cpu device and on one whose memory nobody else can touch. Each element is written once, whoever has it.
// needs: cpu
// passes: start-up
// sanitize: yes
#include <doctest/doctest.h>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/late_machine.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rows_dim : mt::dim<"rows"> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns", 5> {} columns;
inline constexpr struct down_axis : mt::axis<"down"> {} down;
inline constexpr struct across_axis : mt::axis<"across"> {} across;
struct mesh : mt::mesh<down, across> {};
struct by_rows : mt::layout<mt::shard<rows, down>> {};  // the same again on each rank across
struct by_both : mt::layout<mt::shard<rows, down>, mt::shard<columns, across>> {};
struct whole : mt::layout<> {};

struct answer {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows, columns), y = s.input("y", mt::f32, rows, columns);
    auto const same = x * 2;
    s.output("same", same);
    s.output("late", sum(x * sum(same)));  // reads x again, when the output is ready
    s.output("loss", mean(x * x + y));
    s.output("last", x + y);
  }
};

template <class Device, class Layout>
void run(mt::job const& job, int ranks_down, int ranks_across) {
  constexpr std::int64_t n = 7;
  mt::store weights(job);
  mt::executable<answer, mesh, Layout, Device> step(weights, rows(n), down(ranks_down), across(ranks_across));
  std::vector<float> x(35), y(35, 1);
  for (float e = 0; float& to : x) to = e++;

  // Columns vary slowest, and every second element is somebody else's.
  std::vector<float> spread(5 * 16, -1), dense(35);
  auto const to = mt::in_memory(spread.data(), mt::apart(columns(5), 16), mt::apart(rows(n), 2));
  for (int t = 0; t < 3; ++t) {
    std::ranges::fill(spread, -1.F);
    auto const result =
        step(mt::feed<"x">(x), mt::feed<"y">(y), mt::fetch_local<"same">(to), mt::fetch_local<"last">(dense));
    for (std::int64_t r = 0; r < n; ++r)
      for (std::int64_t c = 0; c < 5; ++c) {
        auto const i = static_cast<std::size_t>(r * 5 + c);
        REQUIRE(spread[static_cast<std::size_t>(c * 16 + r * 2)] == 2 * x[i]);
        REQUIRE(dense[i] == x[i] + 1);
      }
    CHECK(std::ranges::count(spread, -1.F) == 80 - 35);
    CHECK(result.template get<"same">().gather()(rows(6), columns(4)) == 68);
    CHECK(result.template get<"same">().local()(rows(6), columns(3)) == 66);
  }
  std::ranges::fill(spread, -1.F);
  auto const own = step().template get<"same">().gather();  // the fetch was for one step
  CHECK(std::ranges::count(spread, -1.F) == 80);
  CHECK(own(rows(6), columns(4)) == 68);
}

template <class Layout>
void run_all(int ranks_down, int ranks_across) {
  run<mt::reference_device, Layout>(mt::job::as_threads(), ranks_down, ranks_across);
  run<mt::reference_device, Layout>(mt::job::in_lockstep(), ranks_down, ranks_across);
  run<mt::cpu_device, Layout>(mt::job::as_threads(), ranks_down, ranks_across);
  meshtensor_test::late_here const machine;
  run<meshtensor_test::late_device, Layout>(mt::job::as_threads(), ranks_down, ranks_across);
}

/// Reads a variable, or updates it too, before an output that needs neither is ready.
template <bool Updates>
struct weighted {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, columns), w = s.parameter("w", columns, mt::ones);
    s.output("y", w * x + 1);
    s.output("z", sum(w * w));
    if constexpr (Updates) s.update(w, w + 1);
    s.output("x_later", sum(x));
  }
};

template <bool Updates, class Use>
void use_weighted(Use const& use) {
  mt::job const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<weighted<Updates>, mt::mesh<>, whole, mt::reference_device> step(weights);
  use(step, weights);
}

}  // namespace

TEST_CASE("one rank") { run_all<whole>(1, 1); }
TEST_CASE("two dims over two axes") { run_all<by_both>(2, 2); }
TEST_CASE("ranks with the same part") { run_all<by_rows>(3, 2); }
TEST_CASE("every rank has the whole") { run_all<whole>(2, 2); }

TEST_CASE("an input that is read in place may get an output") {
  mt::job const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<answer, mesh, whole, mt::cpu_device> step(weights, rows(7), down(1), across(1));
  std::vector<float> x(35, 3), y(35, 1);
  auto const result = step(mt::feed_local<"x">(x), mt::feed_local<"y">(y), mt::fetch_local<"same">(x));
  CHECK(result.get<"loss">() == 10);
  CHECK(result.get<"late">() == 35 * 3 * 210);
  CHECK(std::ranges::count(x, 6.F) == 35);
  // From its second row on: the last row of the output lies behind the input.
  std::vector<float> moved(40, 3);
  auto const all = std::span(moved);
  auto const again =
      step(mt::feed_local<"x">(all.first(35)), mt::feed_local<"y">(y), mt::fetch_local<"same">(all.last(35)));
  CHECK(again.get<"late">() == 35 * 3 * 210);
  CHECK(std::ranges::count(moved, 6.F) == 35);
}

TEST_CASE("the dims of an array are matched by name") {
  mt::job const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<answer, mesh, whole, mt::reference_device> step(weights, rows(5), down(1), across(1));
  mt::array<float, rows, columns> x(rows(5)), y(rows(5));
  for (float e = 0; float& to : x) to = e++;
  mt::array<float, columns, rows> const transposed = x;
  mt::array<float, columns, rows> to(rows(5));
  mt::any_array<float> last({{mt::name("columns"), 5}, {mt::name("rows"), 5}});
  auto const result = step(mt::feed_local<"x">(transposed), mt::feed_local<"y">(y), mt::fetch_local<"same">(to),
                           mt::fetch_local<"last">(last));
  CHECK(to(rows(1), columns(0)) == 10);
  CHECK(last(rows(1), columns(0)) == 5);
  CHECK(result.get<"same">().gather()(rows(1), columns(0)) == 10);
  mt::array<float, columns, rows> const more(rows(6));
  CHECK_THROWS_WITH_AS(step(mt::feed_local<"x">(more)),
                       "meshtensor R11: this rank's part of the input 'x' is [rows=5, columns=5], but a view "
                       "[columns=5, rows=6] was fed",
                       mt::error);
  mt::any_array<float> other({{mt::name("row"), 5}, {mt::name("columns"), 5}});
  CHECK_THROWS_WITH_AS(step(mt::feed_local<"x">(x), mt::feed_local<"y">(y), mt::fetch_local<"same">(other)),
                       "meshtensor R11: this rank's part of the output 'same' is [rows=5, columns=5], but it is "
                       "fetched into a view [row=5, columns=5]",
                       mt::error);
}

TEST_CASE("a variable that a step reads may get an output") {
  use_weighted<false>([](auto& step, mt::store& weights) {
    auto const w = weights.local<float>("w");
    std::vector<float> const x(5, 10);
    CHECK(step(mt::feed<"x">(x), mt::fetch_local<"y">(w)).template get<"z">() == 5);
    CHECK(w(columns(4)) == 11);
    CHECK(step(mt::fetch_local<"y">(w)).template get<"z">() == 5 * 121);
    CHECK(weights.get<float>("w")(columns(0)) == 111);
  });
}

TEST_CASE("a variable that a step updates gets no output") {
  use_weighted<true>([](auto& step, mt::store& weights) {
    auto const w = weights.local<float>("w");
    std::vector<float> const x(5, 10);
    std::string said;
    try {
      step(mt::feed<"x">(x), mt::fetch_local<"y">(w));
    } catch (mt::error const& e) { said = e.what(); }
    CHECK(
        said ==
        "meshtensor R87: the output 'y' is fetched into the memory of a variable that the step updates: fetch it into "
        "other memory");
    CHECK(w(columns(0)) == 1);
  });
}

TEST_CASE("a variable that a step updates may be an input of it") {
  use_weighted<true>([](auto& step, mt::store& weights) {
    auto const w = weights.local<float>("w");
    CHECK(step(mt::feed_local<"x">(w)).template get<"x_later">() == 5);  // its value before the update
    CHECK(w(columns(0)) == 2);
    CHECK(step(mt::feed_local<"x">(w)).template get<"x_later">() == 10);
  });
}

/// Its first output is ready before the last use of its input.
struct rolled {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, columns);
    s.output("y", roll(x, columns, 1) + cumulative_sum(x, columns));
    s.output("z", x * 2);
  }
};

template <class Device>
void feed_last_output() {
  mt::job const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<rolled, mt::mesh<>, whole, Device> step(weights);
  std::vector<float> const x{1, 2, 3, 4, 5};
  auto const y = step(mt::feed<"x">(x)).template get<"y">().gather();  // 6 4 8 13 19
  auto const part = step(mt::feed<"x">(x)).template get<"y">().view();
  std::int64_t const before = step.copied_bytes();
  auto const twice = step(mt::feed_local<"x">(part)).template get<"z">().gather();
  for (std::int64_t i = 0; i < 5; ++i) CHECK(twice(columns(i)) == 2 * y(columns(i)));
  CHECK(step.copied_bytes() == before + 20);
  auto const whole_view = step(mt::feed<"x">(x)).template get<"y">().view();
  auto const again = step(mt::feed<"x">(whole_view)).template get<"z">().gather();
  for (std::int64_t i = 0; i < 5; ++i) CHECK(again(columns(i)) == 2 * y(columns(i)));
}

TEST_CASE("an output of the last step may be an input of the next one") {
  feed_last_output<mt::reference_device>();
  feed_last_output<mt::cpu_device>();
  meshtensor_test::late_here const machine;
  feed_last_output<meshtensor_test::late_device>();
}
