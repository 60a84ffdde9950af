// SPDX-License-Identifier: Apache-2.0
// Operations of the user's own: what they compute, their gradients, and that every layout leaves their dims whole.
//
// passes: start-up
// needs: cpu
#include "meshtensor/op/call.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/inspect/check.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct hour : mt::dim<"hour", 6> {} hour;
inline constexpr struct place : mt::dim<"place", 4> {} place;
inline constexpr struct kind : mt::dim<"kind", 3> {} kind;
inline constexpr struct rows : mt::axis<"rows"> {} rows;
inline constexpr struct cols : mt::axis<"cols", 2> {} cols;

struct sums_from_the_end {
  static constexpr auto whole = to(hour), gives = to(hour);
  template <class T>
  static void run(std::span<T const> x, std::span<T> y) {
    std::partial_sum(x.rbegin(), x.rend(), y.rbegin());
  }
};
struct running_sum {
  static constexpr auto whole = to(hour), gives = to(hour);
  template <class T>
  static void run(std::span<T const> x, std::span<T> y) {
    std::partial_sum(x.begin(), x.end(), y.begin());
  }
  static constexpr auto gradient(auto, auto, auto dy) { return mt::call<sums_from_the_end>(dy); }
};
/// The same, whose gradient has one, too.
struct sums_twice_differentiable {
  static constexpr auto whole = to(hour), gives = to(hour);
  struct backwards : sums_from_the_end {
    static constexpr auto gradient(auto, auto, auto dy) { return mt::call<running_sum>(dy); }
  };
  template <class T>
  static void run(std::span<T const> x, std::span<T> y) {
    running_sum::run(x, y);
  }
  static constexpr auto gradient(auto, auto, auto dy) { return mt::call<backwards>(dy); }
};
/// Elementwise, of two dtypes.
struct scaled {
  static void run(std::span<float const> x, std::span<std::int32_t const> by, std::span<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] * static_cast<float>(by[i]);
  }
};
/// Two dims seen whole, in an order of its own; gives none.
struct alternating {
  static constexpr auto whole = to(place, hour);
  static void run(auto const& extent, std::span<float const> x, std::span<float> y) {
    auto const n = static_cast<std::size_t>(extent(hour));
    float sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * static_cast<float>((i / n + 1) * 10 + i % n);
    y[0] = sum;
  }
};
/// Gives another dim and another dtype.
struct signs {
  static constexpr auto whole = to(hour);
  static constexpr auto gives = to(kind);
  static constexpr auto type = mt::i32;
  static void run(std::span<float const> x, std::span<std::int32_t> y) {
    y[0] = static_cast<std::int32_t>(std::ranges::count_if(x, [](float v) { return v < 0; }));
    y[1] = static_cast<std::int32_t>(std::ranges::count(x, 0.0f));
    y[2] = static_cast<std::int32_t>(x.size()) - y[0] - y[1];
  }
};

mt::array<float, batch, hour, place> some(int n) {
  mt::array<float, batch, hour, place> x(batch(n));
  int i = 0;
  for (float& e : x) e = static_cast<float>(i++ * 7 % 11 - 5) / 4;
  return x;
}

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, hour, place);
    auto by = s.input("by", mt::i32, place);
    auto w = s.parameter("w", place, mt::constant(1.5));
    auto sums = mt::call<running_sum>(x * w);
    auto looped =
        mt::repeat(s / "loop", kind, sums, [](mt::scope auto, auto h) { return mt::call<running_sum>(h * 0.5); });
    auto loss = mean(looped * looped);
    s.output("sums", sums);
    s.output("scaled", mt::call<scaled>(sums, by));
    s.output("alternating", mt::call<alternating>(x));
    s.output("signs", mt::call<signs>(x));
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct mesh : mt::mesh<rows, cols> {};
struct alone : mt::layout<> {};
struct by_batch : mt::layout<mt::shard<batch, rows>, mt::shard<place, cols>> {};
struct by_time : mt::layout<mt::shard<hour, cols>, mt::shard<batch, rows>> {};
struct by_both : mt::layout<mt::shard<batch, rows, cols>> {};
struct by_kind : mt::layout<mt::shard<place, rows>, mt::shard<hour, cols>> {};
struct by_result : mt::layout<mt::shard<kind, rows>> {};

}  // namespace

TEST_CASE("what calls give") {
  auto const x = some(5);
  std::vector<std::int32_t> const by{2, -1, 0, 3};
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::eager s(weights, batch(5));
  auto const sums = s.value(mt::call<running_sum>(s(x)));
  auto const scaled_x = s.value(mt::call<scaled>(s(x), s(mt::array<std::int32_t, place>(by))));
  auto const all = s.value(mt::call<alternating>(s(x)));
  auto const counts = s.value(mt::call<signs>(s(x)));
  for (int b = 0; b < 5; ++b) {
    float total = 0;
    for (int p = 0; p < 4; ++p) {
      float sum = 0;
      int seen[3] = {};
      for (int t = 0; t < 6; ++t) {
        float const e = x(batch(b), hour(t), place(p));
        sum += e;
        total += e * static_cast<float>((p + 1) * 10 + t);
        ++seen[e < 0 ? 0 : e > 0 ? 2 : 1];
        CHECK(sums(batch(b), place(p), hour(t)) == sum);
        CHECK(scaled_x(batch(b), place(p), hour(t)) == e * static_cast<float>(by[static_cast<std::size_t>(p)]));
      }
      for (int k = 0; k < 3; ++k) CHECK(counts(batch(b), place(p), kind(k)) == seen[k]);
    }
    CHECK(all(batch(b)) == total);
  }
}

TEST_CASE("the gradient is the operation's own") {
  auto const x = some(2);
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::eager s(weights, batch(2));
  auto const in = s(x);
  auto const y = mt::call<running_sum>(in);
  auto const derivative = s.value(mt::gradient(sum(y * y), in));
  for (int b = 0; b < 2; ++b)
    for (int p = 0; p < 4; ++p)
      for (int t = 0; t < 6; ++t) {
        float expected = 0;
        for (int k = t; k < 6; ++k) expected += 2 * s.value(y)(batch(b), place(p), hour(k));
        CHECK(derivative(batch(b), place(p), hour(t)) == doctest::Approx(expected));
      }
}

TEST_CASE("under every layout, on every device, the same") {
  auto const look = []<class Layout, class Device>(int n, int parts) {
    std::vector<std::int32_t> const by{2, -1, 0, 3};
    auto const r =
        mt::check<program, mesh, Layout, Device>(batch(n), rows(parts), mt::feed<"x">(some(n)), mt::feed<"by">(by));
    INFO(text_of(r));
    CHECK(r.agrees());
    CHECK(r.compared > 20);
  };
  auto const layouts = [&]<class Device>(int n, int parts) {
    look.operator()<alone, Device>(n, parts);
    look.operator()<by_batch, Device>(n, parts);
    look.operator()<by_time, Device>(n, parts);
    look.operator()<by_both, Device>(n, parts);
    if (parts % 2 == 1) look.operator()<by_result, Device>(n, parts);
    if (parts != 3) look.operator()<by_kind, Device>(n, parts);
  };
  for (int parts : {1, 2, 3, 4}) layouts.operator()<mt::reference_device>(24, parts);
  for (int parts : {1, 2}) layouts.operator()<mt::default_device>(1200, parts);  // several blocks
}

TEST_CASE("without a gradient, differentiation says so") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::eager s(weights, batch(2));
  auto const in = s(some(2));
  auto const derivative = mt::gradient(sum(mt::call<sums_from_the_end>(in)), in);
  CHECK_THROWS_WITH_AS(s.value(derivative), doctest::Contains("G30: the operation 'sums_from_the_end' has no gradient"),
                       mt::error);
}

TEST_CASE("the gradient of a gradient is that of what it calls") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::eager s(weights, batch(2));
  auto const in = s(some(2)), along = s(some(2));
  auto const curve = [&]<class Sums>(Sums) {
    auto const y = mt::call<Sums>(in);
    return mt::gradient(sum(mt::gradient(sum(y * y), in) * along), in);
  };
  auto const got = s.value(curve(sums_twice_differentiable{}));
  auto const wanted = s.value(2.0 * mt::call<sums_from_the_end>(mt::call<running_sum>(along)));
  CHECK(got.size() == wanted.size());
  for (int b = 0; b < 2; ++b)
    for (int p = 0; p < 4; ++p)
      for (int t = 0; t < 6; ++t)
        CHECK(got(batch(b), place(p), hour(t)) == doctest::Approx(wanted(batch(b), place(p), hour(t))));
  CHECK_THROWS_WITH_AS(s.value(curve(running_sum{})),
                       doctest::Contains("G30: the operation 'sums_from_the_end' has no gradient"), mt::error);
}
