// SPDX-License-Identifier: Apache-2.0
// Every operation on arrays gives what it says: numbers written out, or by the standard library's functions.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "meshtensor/eager/array_operations.hpp"
#include "meshtensor/nn/dropout.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

using numbers = std::vector<double>;

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct a_dim : mt::dim<"a", 2> {} a;
inline constexpr struct b_dim : mt::dim<"b", 3> {} b;
inline constexpr struct c_dim : mt::dim<"c", 4> {} c;
inline constexpr struct ab_dim : mt::dim<"ab", a * b> {} ab;
inline constexpr struct a_and_b_dim : mt::dim<"a_and_b", a + b> {} a_and_b;
inline constexpr struct many_dim : mt::dim<"many", 1000> {} many;
inline constexpr struct part_dim : mt::dim<"part", 2> {} part;

mt::array<double, a, b> const x({1, 2, 3, 4, 5, 6});
mt::array<double, c> const mixed({-1.75, -0.25, 0.5, 2});
mt::array<double, c> const positive({0.25, 0.5, 1, 2.5});
mt::array<bool, a, c> const every({false, false, true, true, true, false, true, false});
mt::array<bool, c> const some({false, true, false, true});

template <class A>
numbers all_of(A const& array) {
  return {array.begin(), array.end()};
}

template <class A, class F>
void check_each(char const* what, A const& got, mt::array<double, c> const& from, F f) {
  INFO(std::string(what));
  static_assert(std::is_same_v<A, mt::array<double, c>>);
  for (int i = 0; i < 4; ++i) CHECK(got(c(i)) == doctest::Approx(f(from(c(i)))).epsilon(1e-12));
}
double normal_below(double v) { return 0.5 * std::erfc(-v / std::sqrt(2.0)); }

}  // namespace

TEST_CASE("functions of one array") {
  check_each("exp", exp(mixed), mixed, [](double v) { return std::exp(v); });
  check_each("log", log(positive), positive, [](double v) { return std::log(v); });
  check_each("sqrt", sqrt(positive), positive, [](double v) { return std::sqrt(v); });
  check_each("rsqrt", rsqrt(positive), positive, [](double v) { return 1 / std::sqrt(v); });
  check_each("sin", sin(mixed), mixed, [](double v) { return std::sin(v); });
  check_each("cos", cos(mixed), mixed, [](double v) { return std::cos(v); });
  check_each("tanh", tanh(mixed), mixed, [](double v) { return std::tanh(v); });
  check_each("sigmoid", sigmoid(mixed), mixed, [](double v) { return 1 / (1 + std::exp(-v)); });
  check_each("erf", erf(mixed), mixed, [](double v) { return std::erf(v); });
  check_each("gelu", gelu(mixed), mixed, [](double v) { return v * normal_below(v); });
  check_each("gelu_tanh", gelu_tanh(mixed), mixed, [](double v) {
    return v / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v)));
  });
  check_each("silu", silu(mixed), mixed, [](double v) { return v / (1 + std::exp(-v)); });
  check_each("softsign", softsign(mixed), mixed, [](double v) { return v / (1 + std::abs(v)); });
  CHECK(all_of(relu(mixed)) == numbers{0, 0, 0.5, 2});
  CHECK(all_of(abs(mixed)) == numbers{1.75, 0.25, 0.5, 2});
  CHECK(all_of(sign(mixed * 2 - 1)) == numbers{-1, -1, 0, 1});
  CHECK(all_of(floor(mixed)) == numbers{-2, -1, 0, 2});
  CHECK(all_of(-mixed) == numbers{1.75, 0.25, -0.5, -2});
  auto const whole = mt::cast<mt::dtype::i32>(mixed);
  static_assert(std::is_same_v<decltype(whole), mt::array<std::int32_t, c> const>);
  CHECK(all_of(whole) == numbers{-1, 0, 0, 2});
}

TEST_CASE("functions of two arrays, or of one and a number") {
  check_each("power", power(positive, 1.5), positive, [](double v) { return std::pow(v, 1.5); });
  check_each("power of a number", power(2, mixed), mixed, [](double v) { return std::exp2(v); });
  CHECK(all_of(pow(x, mt::array<double, a>({2, 3}))) == numbers{1, 4, 9, 64, 125, 216});
  CHECK(all_of(power(x, mt::array<double, a>({2, 3}))) == numbers{1, 4, 9, 64, 125, 216});
  CHECK(all_of(mixed + positive) == numbers{-1.5, 0.25, 1.5, 4.5});
  CHECK(all_of(3 - mixed) == numbers{4.75, 3.25, 2.5, 1});
  CHECK(all_of(mixed * positive) == numbers{-0.4375, -0.125, 0.5, 5});
  CHECK(all_of(1 / positive) == numbers{4, 2, 1, 0.4});
  CHECK(all_of(mixed % 1) == numbers{0.25, 0.75, 0.5, 0});  // a remainder has the divisor's sign
  CHECK(all_of(mt::array<std::int32_t, c>({-7, -1, 1, 7}) % -3) == numbers{-1, -1, -2, -2});
  CHECK(all_of(maximum(mixed, positive)) == numbers{0.25, 0.5, 1, 2.5});
  CHECK(all_of(maximum(mixed, -1)) == numbers{-1, -0.25, 0.5, 2});
  CHECK(all_of(minimum(mixed, positive)) == numbers{-1.75, -0.25, 0.5, 2});
  CHECK(all_of(minimum(0.25, mixed)) == numbers{-1.75, -0.25, 0.25, 0.25});
  // What only one operand has is repeated; the first one's dims lead.
  auto const table = mt::array<double, b>({10, 20, 30}) + mt::array<double, a>({1, 2});
  static_assert(std::is_same_v<decltype(table), mt::array<double, b, a> const>);
  CHECK(all_of(table) == numbers{11, 12, 21, 22, 31, 32});
}

TEST_CASE("comparisons and logic") {
  CHECK(all_of(mixed < 0.5) == numbers{1, 1, 0, 0});
  CHECK(all_of(mixed <= 0.5) == numbers{1, 1, 1, 0});
  CHECK(all_of(mixed > 0.5) == numbers{0, 0, 0, 1});
  CHECK(all_of(mixed >= 0.5) == numbers{0, 0, 1, 1});
  CHECK(all_of(mixed < -positive) == numbers{1, 0, 0, 0});
  CHECK(all_of(every && some) == numbers{0, 0, 0, 1, 0, 0, 0, 0});
  CHECK(all_of(every || some) == numbers{0, 1, 1, 1, 1, 1, 1, 1});
  CHECK(all_of(!every) == numbers{1, 1, 0, 0, 0, 1, 0, 1});
  static_assert(std::is_same_v<decltype(some && every), mt::array<bool, c, a>>);
  CHECK(all_of(any(every, a)) == numbers{1, 0, 1, 1});
  CHECK(all_of(all(every || some, c)) == numbers{0, 1});
  CHECK(all_of(select(some, mixed, positive)) == numbers{0.25, -0.25, 1, 2});
  CHECK(all_of(select(every, 1, mixed)) == numbers{-1.75, 1, -0.25, -0.25, 1, 1, 1, 2});  // [c, a]
  CHECK(mixed == mt::array<double, c>({-1.75, -0.25, 0.5, 2}));  // one answer for the whole array
  CHECK(mixed != positive);
}

TEST_CASE("along a dim") {
  CHECK(all_of(sum(x, a)) == numbers{5, 7, 9});
  CHECK(sum(x) == 21);
  CHECK(all_of(mean(x, b)) == numbers{2, 5});
  CHECK(all_of(max(mixed * x, c, a)) == numbers{8, 10, 12});
  CHECK(min(mixed) == -1.75);
  CHECK(all_of(argmax(mt::array<double, a, b>({1, 7, 7, 4, 3, 4}), b)) == numbers{1, 0});  // the first of equals
  double const total = std::exp(-1.75) + std::exp(-0.25) + std::exp(0.5) + std::exp(2.0);
  check_each("softmax", softmax(mixed, c), mixed, [=](double v) { return std::exp(v) / total; });
  check_each("log_softmax", log_softmax(mixed, c), mixed, [=](double v) { return v - std::log(total); });
  CHECK(logsumexp(mixed, c) == doctest::Approx(std::log(total)).epsilon(1e-12));
  auto const apart = logsumexp(mt::array<double, a, b>({1000, -1e30, -1e30, 0, 0, 0}), b);
  CHECK(apart(a(0)) == 1000);
  CHECK(apart(a(1)) == doctest::Approx(std::log(3.0)).epsilon(1e-12));
  CHECK(all_of(causal(x, a, b)) == numbers{1, -1e30, -1e30, 4, 5, -1e30});
  CHECK(all_of(einsum(x, mt::array<double, b>({1, 0, -1}), to(a))) == numbers{-2, -2});
}

TEST_CASE("movement") {
  CHECK(all_of(transpose(x, to(b, a))) == numbers{1, 4, 2, 5, 3, 6});
  CHECK(all_of(broadcast(mt::array<double, a>({1, 2}), to(b, a))) == numbers{1, 2, 1, 2, 1, 2});
  CHECK(rename(x, a, part)(part(1), b(0)) == 4);
  CHECK(all_of(merge(x, to(a, b), ab)) == numbers{1, 2, 3, 4, 5, 6});
  CHECK(all_of(merge(x, to(b, a), ab)) == numbers{1, 4, 2, 5, 3, 6});
  auto const parts = split(mt::array<double, ab>({1, 2, 3, 4, 5, 6}), ab, to(b, a));
  static_assert(std::is_same_v<decltype(parts), mt::array<double, b, a> const>);
  CHECK(parts(b(1), a(0)) == 3);
  CHECK(all_of(slice(x, b, part, 1)) == numbers{2, 3, 5, 6});
  CHECK(all_of(slice(x, b, part, 0, 2)) == numbers{1, 3, 4, 6});
  mt::array<std::int64_t, a> const start({1, 0});
  CHECK(all_of(slice(x, b, part, start)) == numbers{2, 3, 4, 5});
  CHECK(all_of(put(x, slice(x, b, part, start) * 10, b, part, start)) == numbers{1, 20, 30, 40, 50, 6});
  CHECK(all_of(pad(x, b, a_and_b, 4, 9, -2)) == numbers{3, 9, 2, 9, 1, 6, 9, 5, 9, 4});
  CHECK(all_of(pad(x, b, c, 1)) == numbers{0, 1, 2, 3, 0, 4, 5, 6});
  CHECK(all_of(pad(x, b, a_and_b, 0, 9)) == numbers{1, 2, 3, 9, 9, 4, 5, 6, 9, 9});
  CHECK(all_of(concat(mt::array<double, a>({7, 8}), a, mt::array<double, b>({1, 2, 3}), b, a_and_b)) ==
        numbers{7, 8, 1, 2, 3});
}

TEST_CASE("lookup") {
  mt::array<std::int32_t, batch> const which({2, 0, 3, -1});
  CHECK(all_of(gather(x, which, b)) == numbers{3, 6, 1, 4, 0, 0, 0, 0});  // out of range there is nothing
  CHECK(all_of(max_pool(x, mt::window(b, part, 2))) == numbers{2, 3, 5, 6});
  CHECK(all_of(sum_pool(x, mt::window(b, b, 3, {.padding = {1, 1}}))) == numbers{3, 6, 5, 9, 15, 11});
  CHECK(all_of(mean_pool(x, mt::window(a, a, 2, {.padding = {0, 1}}), mt::mean_over::elements)) ==
        numbers{2.5, 3.5, 4.5, 4, 5, 6});
  CHECK(all_of(cumulative_sum(x, b)) == numbers{1, 3, 6, 4, 9, 15});
  CHECK(all_of(cumulative_sum(x, a, {.reverse = true})) == numbers{5, 7, 9, 4, 5, 6});
  CHECK(all_of(roll(x, b, 1)) == numbers{3, 1, 2, 6, 4, 5});
  CHECK(all_of(shift(x, b, -2, 9)) == numbers{3, 9, 9, 6, 9, 9});
  CHECK(all_of(reverse(x, b)) == numbers{3, 2, 1, 6, 5, 4});
  CHECK(all_of(resize(x, b, part)) == numbers{1, 2, 4, 5});
  CHECK(all_of(resize(x, b, part, mt::interpolation::corners)) == numbers{1, 3, 4, 6});
  double const factor = 10;
  auto const ahead = [&](auto at) { return factor * at() + at(b(1)); };
  CHECK(all_of(mt::stencil(x, ahead)) == numbers{12, 23, 30, 45, 56, 60});
  CHECK(all_of(mt::stencil(x, ahead, mt::beyond::other_end)) == numbers{12, 23, 31, 45, 56, 64});
  CHECK(all_of(argsort(x, b, mt::sort_order::descending)) == numbers{2, 1, 0, 2, 1, 0});
  CHECK(all_of(std::get<0>(sort(-x, b))) == numbers{-3, -2, -1, -6, -5, -4});
  CHECK(all_of(stack(std::tuple(x, x * 2), part)) == numbers{1, 2, 3, 4, 5, 6, 2, 4, 6, 8, 10, 12});
  CHECK(all_of(std::get<1>(unstack(x, a))) == numbers{4, 5, 6});
  CHECK(all_of(one_hot(which, b, mt::f64)) == numbers{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  mt::array<double, batch, a> const rows({1, 2, 3, 4, 5, 6, 7, 8});
  mt::array<std::int64_t, batch> const into({1, 1, 0, 5});
  CHECK(all_of(scatter_add(rows, into, b, to(b, a))) == numbers{5, 6, 4, 6, 0, 0});
  CHECK(all_of(scatter_add(rows, into, b, to(b))) == numbers{11, 10, 0});
  mt::array<std::int64_t, batch> const group({1, 0, 2, 1});
  CHECK(all_of(grouped_einsum(rows, mt::array<double, b, a>({1, 0, 0, 1, 1, 1}), group, b, to(batch))) ==
        numbers{2, 3, 11, 8});
  auto const places = mt::iota(b, mt::i64);
  static_assert(std::is_same_v<decltype(places), mt::array<std::int64_t, b> const>);
  CHECK(all_of(places) == numbers{0, 1, 2});
  CHECK(all_of(mt::iota(batch, mt::f32, batch(4)) * 0.5) == numbers{0, 0.5, 1, 1.5});
  CHECK_THROWS_WITH_AS(mt::iota(batch, mt::f32), doctest::Contains("S11"), mt::error);
}

// Random numbers need a scope: its path and the step tell them apart.
TEST_CASE("random arrays of an eager scope") {
  mt::eager s;
  auto const u = s.value(uniform(s / "u", mt::f32, to(many)));
  CHECK(u != s.value(uniform(s / "v", mt::f32, to(many))));
  CHECK(u != s.value(uniform(s / "u", mt::f32, to(many))));  // the second one of its path
  CHECK(u == [] {
    mt::eager again;
    return again.value(uniform(again / "u", mt::f32, to(many)));
  }());
  CHECK(all(u >= 0 && u < 1));
  CHECK(std::abs(mean(u) - 0.5) < 0.03);
  auto const n = s.value(normal(s / "n", mt::f64, to(many)));
  CHECK(std::abs(mean(n)) < 0.1);
  CHECK(std::abs(mean(n * n) - 1) < 0.15);
  auto const coins = mt::cast<mt::dtype::f32>(s.value(bernoulli(s / "coins", 0.25, to(many))));
  CHECK(std::abs(mean(coins) - 0.25) < 0.05);
  mt::array<float, many> const ones(std::vector<float>(1000, 1));
  auto const kept = s.value(mt::nn::dropout(s / "drop", s(ones), 0.5));
  CHECK(all_of(kept) == all_of(select(kept > 0, ones * 2, 0)));
  CHECK(std::abs(mean(kept) - 1) < 0.1);
}
