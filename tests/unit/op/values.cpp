// SPDX-License-Identifier: Apache-2.0
// What operations give, number by number: written out, or by plain loops over all indices.
#include "unit/op/trial.hpp"

#include <algorithm>

#include "meshtensor/op/activation.hpp"
#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/conv.hpp"
#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/grouped_einsum.hpp"
#include "meshtensor/op/one_hot.hpp"
#include "meshtensor/op/pool.hpp"
#include "meshtensor/op/resize.hpp"
#include "meshtensor/op/shift.hpp"
#include "meshtensor/op/slice_at.hpp"
#include "meshtensor/op/softmax.hpp"
#include "meshtensor/op/sort.hpp"
#include "meshtensor/op/stack.hpp"
#include "meshtensor/op/stencil.hpp"

namespace {

namespace mt = meshtensor;
using mt::to;
using numbers = std::vector<double>;

inline constexpr struct a_dim : mt::dim<"a", 2> {} a;
inline constexpr struct b_dim : mt::dim<"b", 3> {} b;
inline constexpr struct c_dim : mt::dim<"c", 4> {} c;
inline constexpr struct row_dim : mt::dim<"row", 3> {} row;
inline constexpr struct first_dim : mt::dim<"first", 1> {} first;
inline constexpr struct part_dim : mt::dim<"part", 2> {} part;
inline constexpr struct wide_dim : mt::dim<"wide", 6> {} wide;
inline constexpr struct ab_dim : mt::dim<"ab", a * b> {} ab;
inline constexpr struct joined_dim : mt::dim<"joined", b + part> {} joined;

template <class F, mt::dtype T>
struct of_x {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", F{}(s, s.input("x", mt::dtype_constant<T>{}, a, b)));
  }
};
/// f(s, x) for x [a, b] with these elements.
template <mt::dtype T = mt::dtype::f64, class F>
numbers of(F, numbers const& x) {
  return trial::result_of<of_x<F, T>>(x);
}

numbers const one_to_six = {1, 2, 3, 4, 5, 6};

double const inf = std::numeric_limits<double>::infinity(), no_number = std::nan("");
/// Off by no more than the tolerance; a nan equals a nan.
bool same(numbers const& got, numbers const& wanted, double tolerance = 0) {
  return std::ranges::equal(got, wanted, [&](double p, double q) {
    return p == q || (std::isnan(p) && std::isnan(q)) || std::abs(p - q) <= tolerance;
  });
}
/// The gradient by x of y, of which elements at 0, 1 and 2 of b are weighed by 1, 2 and 3.
constexpr auto derivative_of(auto s, auto x, auto const& y) {
  return gradient(sum(y * (mt::cast<mt::f64>(mt::iota(s, b, mt::i32)) + 1)), x);
}

constexpr auto sum_around = [](auto at) { return at(b(-1)) + 10 * at() + 100 * at(b(1)); };
constexpr auto corners = [](auto at) { return at(a(1), b(-1)) - at(b(-1), a(1)) + at(a(-1), b(1)); };

/// 1, 10 and 100.
constexpr auto weights(auto s) {
  auto const i = mt::iota(s, row, mt::f64);
  return 1 + i * (40.5 * i - 31.5);
}
constexpr auto around_ring(auto s, auto v) {
  return conv(v, weights(s), to(a, b), mt::window(b, b, row, {.padding = mt::circular_padding}));
}

/// Windows of one element, the first of which is padding.
constexpr auto behind_padding() { return mt::window(b, c, 1, {.padding = {1, 0}}); }

/// 0 as a tensor without dims.
constexpr auto zero(auto s) {
  auto const place = mt::iota(s, first, mt::i32);
  return sum(place);
}

/// A slice as long as an open dim.
struct slice_of_open_extent {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", slice(s.input("x", mt::f64, a, b), b, some, s.input("start", mt::i64)));
  }
  static constexpr struct some_dim : mt::dim<"some"> {
  } some{};
};

/// A slice that starts at a tensor, and its gradient, are those of a slice at a number.
template <int At>
void same_as_at_a_number() {
  CHECK(of([](auto s, auto x) { return slice(x, b, part, At) - slice(x, b, part, zero(s) + At); }, one_to_six) ==
        numbers(4));
  CHECK(of(
            [](auto s, auto x) {
              auto const y = slice(x * x, b, part, At), z = slice(x * x, b, part, zero(s) + At);
              return gradient(sum(y * y), x) - gradient(sum(z * z), x);
            },
            one_to_six) == numbers(6));
}

struct product {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, a, b);
    auto const y = s.input("y", mt::f64, c, b);
    auto const z = s.input("z", mt::f64, a);
    s.output("product", einsum(x, y, to(c, a)));
    s.output("three", einsum(z, y, x, to(c)));
    s.output("outer", einsum(x, y, to(b, c, a)));
  }
};

template <mt::dtype T>
struct bytes_as_classes {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", sum(one_hot(s.input("x", mt::dtype_constant<T>{}, a), many, mt::i32), many));
  }
  static constexpr struct many_dim : mt::dim<"many", 300> {
  } many{};
};

}  // namespace

TEST_CASE("einsum is a sum over all indices that the result does not name") {
  trial::program p = trial::program::of<product>();
  p.fill_at_random(-1, 1);
  mt::blocks const r = p.run();
  auto const x = [&](int i, int j) { return p.inputs.at("x").number_at(i * 3 + j); };
  auto const y = [&](int k, int j) { return p.inputs.at("y").number_at(k * 3 + j); };
  auto const z = [&](int i) { return p.inputs.at("z").number_at(i); };
  for (int k = 0; k < 4; ++k) {
    double three = 0;
    for (int i = 0; i < 2; ++i) {
      double product = 0;
      for (int j = 0; j < 3; ++j) {
        product += x(i, j) * y(k, j);
        three += x(i, j) * y(k, j) * z(i);
        CHECK(r.at("outer").number_at((j * 4 + k) * 2 + i) == x(i, j) * y(k, j));
      }
      CHECK(r.at("product").number_at(k * 2 + i) == doctest::Approx(product));
    }
    CHECK(r.at("three").number_at(k) == doctest::Approx(three));
  }
}

TEST_CASE("reductions") {
  CHECK(of([](auto, auto x) { return sum(x); }, one_to_six) == numbers{21});
  CHECK(of([](auto, auto x) { return sum(x, a); }, one_to_six) == numbers{5, 7, 9});
  CHECK(of([](auto, auto x) { return mean(x, b); }, one_to_six) == numbers{2, 5});
  CHECK(of([](auto, auto x) { return mean(x); }, one_to_six) == numbers{3.5});
  CHECK(of([](auto, auto x) { return max(x, b); }, {-1, -2, -3, 4, 6, 5}) == numbers{-1, 6});
  CHECK(of([](auto, auto x) { return min(x, a); }, {-1, -2, -3, 4, -6, 5}) == numbers{-1, -6, -3});
  CHECK(of<mt::dtype::i32>([](auto, auto x) { return max(x); }, {-1, -2, -3, -4, -6, -5}) == numbers{-1});
  CHECK(of<mt::dtype::bf16>([](auto, auto x) { return sum(x, b); }, {256, 1, 1, 0, 0, 1}) == numbers{258, 1});
  CHECK(of([](auto, auto x) { return any(x > 2, b); }, {1, 2, 2, 0, 3, 0}) == numbers{0, 1});
  CHECK(of([](auto, auto x) { return all(x > 2, a); }, {3, 2, 3, 3, 3, 2}) == numbers{1, 0, 0});
  CHECK(of([](auto, auto x) { return sum(sum(x)); }, one_to_six) == numbers{21});
}

TEST_CASE("equals share a gradient") {
  auto const greater = [](auto, auto x) {
    return gradient(sum(maximum(slice(x, b, first, 0), slice(x, b, first, 1)) * 2), x);
  };
  auto const less = [](auto, auto x) {
    return gradient(sum(minimum(slice(x, b, first, 0), slice(x, b, first, 1)) * 2), x);
  };
  double const nan = std::nan("");
  CHECK(of(greater, {1, 1, 0, 1, 2, 0}) == numbers{1, 1, 0, 0, 2, 0});
  CHECK(of(less, {1, 1, 0, 1, 2, 0}) == numbers{1, 1, 0, 2, 0, 0});
  CHECK(of(greater, {nan, 1, 0, 1, nan, 0}) == numbers{2, 2, 0, 2, 2, 0});
  numbers const x = {1, 2, 3, 2, 2, 2};
  CHECK(of([](auto, auto v) { return gradient(sum(maximum(v, 2)), v); }, x) == numbers{0, 0.5, 1, 0.5, 0.5, 0.5});
  CHECK(of([](auto, auto v) { return gradient(sum(max(v, b)) * 3, v); }, x) == numbers{0, 0, 3, 1, 1, 1});
  CHECK(of([](auto, auto v) { return gradient(min(v) * 6, v); }, {1, 2, 1, 2, 1, 2}) == numbers{2, 0, 2, 0, 2, 0});
  CHECK(of([](auto, auto v) { return gradient(sum(relu(v - 2)), v); }, x) == numbers{0, 0, 1, 0, 0, 0});
}

TEST_CASE("powers are flat where the exponent is zero") {
  numbers const x = {0, 1, 2, 0, -1, 3};
  CHECK(of([](auto, auto v) { return gradient(sum(power(v, v * 0)), v); }, {0, 0, 0, 0, 0, 0}) == numbers(6, 0));
  CHECK(of([](auto, auto v) { return gradient(sum(power(v, 0)), v); }, x) == numbers(6, 0));
  CHECK(of([](auto, auto v) { return gradient(sum(gradient(sum(power(v, 1)), v) * v), v); }, x) == numbers(6, 1));
  CHECK(of([](auto, auto v) { return gradient(sum(gradient(sum(power(v, 2)), v)), v); }, x) == numbers(6, 2));
}

TEST_CASE("powers by the name that C++ has, of tensors and of numbers") {
  numbers const x = {0, 1, 2, 3, 4, 5};
  CHECK(of([](auto, auto v) { return pow(v, 2) - 1; }, x) == numbers{-1, 0, 3, 8, 15, 24});
  CHECK(of([](auto, auto v) { return pow(2, v); }, x) == numbers{1, 2, 4, 8, 16, 32});
  CHECK(of([](auto s, auto v) { return v * pow(s.number("base", 3), 2); }, x) == numbers{0, 9, 18, 27, 36, 45});
  CHECK(of([](auto s, auto v) { return v * pow(2, s.number("exponent", 3)); }, x) == numbers{0, 8, 16, 24, 32, 40});
}

TEST_CASE("a cast names its dtype behind the tensor or in brackets") {
  numbers const x = {0.5, 1.5, -2.5, 3, 4, 5};
  CHECK(of([](auto, auto v) { return cast(cast(v, mt::i32), mt::f64); }, x) == numbers{0, 1, -2, 3, 4, 5});
  CHECK(of([](auto, auto v) { return mt::cast<mt::f64>(mt::cast<mt::i32>(v)); }, x) == numbers{0, 1, -2, 3, 4, 5});
}

TEST_CASE("argmax gives the lowest of equals") {
  CHECK(of([](auto, auto x) { return argmax(x, b); }, {1, 7, 7, 4, 4, 4}) == numbers{1, 0});
  CHECK(of([](auto, auto x) { return argmax(x, a); }, {1, 7, 7, 1, 8, 6}) == numbers{0, 1, 0});
}

TEST_CASE("cumulative sums") {
  numbers const x = {1, 2, 3, 4, 5, 6};
  CHECK(of([](auto, auto v) { return cumulative_sum(v, b); }, x) == numbers{1, 3, 6, 4, 9, 15});
  CHECK(of([](auto, auto v) { return cumulative_sum(v, a); }, x) == numbers{1, 2, 3, 5, 7, 9});
  CHECK(of([](auto, auto v) { return cumulative_sum(v, b, {.exclusive = true}); }, x) == numbers{0, 1, 3, 0, 4, 9});
  CHECK(of([](auto, auto v) { return cumulative_sum(v, b, {.reverse = true}); }, x) == numbers{6, 5, 3, 15, 11, 6});
  CHECK(of([](auto, auto v) { return cumulative_sum(v, b, {.exclusive = true, .reverse = true}); }, x) ==
        numbers{5, 3, 0, 11, 6, 0});
  CHECK(of<mt::dtype::i32>([](auto, auto v) { return cumulative_sum(v, b); }, x) == numbers{1, 3, 6, 4, 9, 15});
  // bf16 is summed in f32: 256 + 1 + 1 is 258, while 256 + 1 in bf16 is 256
  CHECK(of<mt::dtype::bf16>([](auto, auto v) { return cumulative_sum(v, b); }, {256, 1, 1, 0, 0, 1}) ==
        numbers{256, 256, 258, 0, 0, 1});
}

TEST_CASE("a convolution along a ring") {
  CHECK(of([](auto s, auto v) { return around_ring(s, v); }, one_to_six) == numbers{213, 321, 132, 546, 654, 465});
  CHECK_THROWS_WITH_AS(
      of([](auto, auto v) { return sum_pool(v, mt::window(b, b, 3, {.padding = mt::circular_padding})); }, one_to_six),
      doctest::Contains("meshtensor T06: pools have no mt::circular_padding"), mt::error);
  CHECK_THROWS_WITH_AS(
      of(
          [](auto s, auto v) {
            return conv_transposed(v, weights(s), to(a, b), mt::window(b, b, row, {.padding = mt::circular_padding}));
          },
          one_to_six),
      doctest::Contains("meshtensor T06: mt::circular_padding is for convolutions that are not"), mt::error);
}

TEST_CASE("a window of padding alone gives 0") {
  numbers const wanted = {0, 1, 2, 3, 0, 4, 5, 6};
  CHECK(of([](auto, auto v) { return mean_pool(v, behind_padding(), mt::mean_over::elements); }, one_to_six) == wanted);
  CHECK(of([](auto, auto v) { return mean_pool(v, behind_padding()); }, one_to_six) == wanted);
  CHECK(of([](auto, auto v) { return max_pool(v, behind_padding()); }, {-1, -2, -3, -4, -5, -6}) ==
        numbers{0, -1, -2, -3, 0, -4, -5, -6});
  CHECK(of([](auto, auto v) { return gradient(sum(mean_pool(v, behind_padding(), mt::mean_over::elements)), v); },
           one_to_six) == numbers(6, 1));
}

TEST_CASE("tensors of other sizes, as PyTorch interpolates") {
  using mt::interpolation;
  numbers const x = {1, 4, 9, 16, 25, 36};
  CHECK(of([](auto, auto v) { return resize(v, b, part); }, x) == numbers{1, 4, 16, 25});
  CHECK(of([](auto, auto v) { return resize(v, b, joined); }, x) == numbers{1, 1, 4, 4, 9, 16, 16, 25, 25, 36});
  CHECK(same(of([](auto, auto v) { return resize(v, b, joined, interpolation::linear); }, x),
             {1, 2.2, 4, 7, 9, 16, 19.6, 25, 31.6, 36}, 1e-12));
  CHECK(same(of([](auto, auto v) { return resize(v, b, joined, interpolation::corners); }, x),
             {1, 2.5, 4, 6.5, 9, 16, 20.5, 25, 30.5, 36}, 1e-12));
  CHECK(same(of([](auto, auto v) { return resize(v, b, part, interpolation::linear); }, x), {1.75, 7.75, 18.25, 33.25},
             1e-12));
  CHECK(of([](auto, auto v) { return resize(v, b, first, interpolation::corners); }, x) == numbers{1, 16});
  CHECK(of([](auto, auto v) { return gradient(sum(resize(v, b, joined)), v); }, x) == numbers{2, 2, 1, 2, 2, 1});
}

TEST_CASE("a stencil takes the elements around each one") {
  numbers const x = one_to_six;
  CHECK(of([](auto, auto v) { return mt::stencil(v, sum_around); }, x) == numbers{210, 321, 32, 540, 654, 65});
  CHECK(of([](auto, auto v) { return mt::stencil(v, sum_around, mt::beyond::other_end); }, x) ==
        numbers{213, 321, 132, 546, 654, 465});
  CHECK(of([](auto, auto v) { return mt::stencil(v, corners); }, x) == numbers{0, 0, 0, 2, 3, 0});
  CHECK(of([](auto, auto v) { return mt::stencil(v, [](auto at) { return at(b(-2), b(1)) + at(b(5)); }); }, x) ==
        numbers{0, 1, 2, 0, 4, 5});
  CHECK(of([](auto, auto v) { return gradient(sum(mt::stencil(v, [](auto at) { return at(b(1)) * at(); })), v); }, x) ==
        numbers{2, 4, 2, 5, 10, 5});
  CHECK_THROWS_WITH_AS(of([](auto, auto v) { return mt::stencil(v, [](auto at) { return at(c(1)); }); }, x),
                       doctest::Contains("meshtensor T01: stencil: the tensor lacks the dim 'c'"), mt::error);
}

TEST_CASE("what is shifted along a dim") {
  numbers const x = {1, 2, 3, 4, 5, 6};
  CHECK(of([](auto, auto v) { return roll(v, b, 1); }, x) == numbers{3, 1, 2, 6, 4, 5});
  CHECK(of([](auto, auto v) { return roll(v, b, -4); }, x) == numbers{2, 3, 1, 5, 6, 4});
  CHECK(of([](auto, auto v) { return roll(v, a, 3); }, x) == numbers{4, 5, 6, 1, 2, 3});
  CHECK(of([](auto, auto v) { return shift(v, b, 1); }, x) == numbers{0, 1, 2, 0, 4, 5});
  CHECK(of([](auto, auto v) { return shift(v, b, -2, 7); }, x) == numbers{3, 7, 7, 6, 7, 7});
  CHECK(of([](auto, auto v) { return shift(v, a, 5, -inf); }, x) == numbers(6, -inf));
  CHECK(of([](auto, auto v) { return reverse(v, b); }, x) == numbers{3, 2, 1, 6, 5, 4});
  // positions are rounded down, and must be numbers
  CHECK(of([](auto, auto v) { return roll(v, b, 1.5); }, x) == numbers{3, 1, 2, 6, 4, 5});
  CHECK(of([](auto, auto v) { return shift(v, b, -1.5); }, x) == numbers{3, 0, 0, 6, 0, 0});
  CHECK_THROWS_WITH_AS(of([](auto, auto v) { return roll(v, b, no_number); }, x),
                       "meshtensor R10: a position along a dim is nan: give a number between -2^53 and 2^53",
                       mt::error);
  CHECK_THROWS_WITH_AS(
      of([](auto, auto v) { return shift(v, b, -0x1p54); }, x),
      "meshtensor R10: a position along a dim is 18014398509481984: give a number between -2^53 and 2^53", mt::error);
  CHECK(of<mt::dtype::boolean>([](auto, auto v) { return shift(v, b, 1, 1); }, {0, 1, 0, 0, 0, 1}) ==
        numbers{1, 0, 1, 1, 0, 0});
}

TEST_CASE("sort keeps equals in order, and nan is the greatest") {
  numbers const x = {2, -1, 2, no_number, 3, -inf};
  CHECK(of([](auto, auto v) { return argsort(v, b); }, x) == numbers{1, 0, 2, 2, 1, 0});
  CHECK(of([](auto, auto v) { return argsort(v, b, mt::sort_order::descending); }, x) == numbers{0, 2, 1, 0, 1, 2});
  CHECK(same(of([](auto, auto v) { return std::get<0>(sort(v, b)); }, x), {-1, 2, 2, -inf, 3, no_number}));
  CHECK(same(of([](auto, auto v) { return std::get<0>(sort(v, b, mt::sort_order::descending)); }, x),
             {2, 2, -1, no_number, 3, -inf}));
  CHECK(of([](auto, auto v) { return std::get<0>(sort(v, a)); }, one_to_six) == one_to_six);
  CHECK(of([](auto s, auto v) { return derivative_of(s, v, std::get<0>(sort(v, b))); }, {3, 1, 2, 4, 5, 6}) ==
        numbers{3, 1, 2, 1, 2, 3});
}

TEST_CASE("stack and unstack") {
  CHECK(of([](auto, auto v) { return stack(std::tuple(v, v * 10), part); }, one_to_six) ==
        numbers{1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  CHECK(of([](auto, auto v) { return stack(std::tuple(sum(v, b), v), part); }, one_to_six) ==
        numbers{6, 6, 6, 15, 15, 15, 1, 2, 3, 4, 5, 6});
  CHECK(of([](auto, auto v) { return stack({v, v * 10}, part); }, one_to_six) ==
        numbers{1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60});
  CHECK(of(
            [](auto, auto v) {
              auto const [x, y, z] = unstack(v, b);
              return x + y * 10 + z * 100;
            },
            one_to_six) == numbers{321, 654});
}

TEST_CASE("softmax and its kin do not overflow") {
  CHECK(of([](auto, auto x) { return softmax(x, b); }, {1000, 1000, -1000, -1e30, -1e30, -1e30}) ==
        numbers{0.5, 0.5, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3});
  CHECK(of([](auto, auto x) { return log_softmax(x, b); }, {0, -1000, -1e9, 7, 7, -1e30})[1] == -1000);
  CHECK(of([](auto, auto x) { return logsumexp(x, b); }, {1000, -1000, 0, -1000, -1e30, -1e30}) ==
        numbers{1000, -1000});
}

TEST_CASE("a nan is the result of what gets one, as in PyTorch, and the greatest of a row") {
  numbers const x = {-1, no_number, 2, 5, -inf, no_number};
  CHECK(same(of([](auto, auto v) { return relu(v); }, x), {0, no_number, 2, 5, 0, no_number}));
  CHECK(same(of([](auto, auto v) { return maximum(v, 0); }, x), {0, no_number, 2, 5, 0, no_number}));
  CHECK(same(of([](auto, auto v) { return minimum(0, v); }, x), {-1, no_number, 0, 0, -inf, no_number}));
  CHECK(same(of([](auto, auto v) { return minimum(maximum(v, -2), 3); }, x), {-1, no_number, 2, 3, -2, no_number}));
  CHECK(same(of([](auto, auto v) { return max(v, b); }, x), {no_number, no_number}));
  CHECK(same(of([](auto, auto v) { return min(v, a); }, x), {-1, no_number, no_number}));
  CHECK(of([](auto, auto v) { return argmax(v, b); }, x) == numbers{1, 2});
  CHECK(of([](auto, auto v) { return argmax(v, b); }, {no_number, inf, no_number, -inf, -inf, -inf}) == numbers{0, 0});
  CHECK(of([](auto, auto v) { return argmax(v, b); }, {1, inf, inf, no_number, inf, no_number}) == numbers{1, 0});
  CHECK(of([](auto, auto v) { return argmax(v, a); }, x) == numbers{1, 0, 1});
  CHECK(of<mt::dtype::bf16>([](auto, auto v) { return argmax(v, b); }, x) == numbers{1, 2});
  numbers const nans(6, no_number);
  CHECK(same(of([](auto, auto v) { return exp(v) + log(v) + sqrt(v) + rsqrt(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return tanh(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return sigmoid(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return erf(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return sin(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return cos(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return abs(floor(v)); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return mt::gelu(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return mt::gelu_tanh(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return mt::silu(v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return mt::softsign(v); }, {-inf, -3, 0, 1, no_number, inf}),
             {no_number, -0.75, 0, 0.5, no_number, no_number}));
  CHECK(same(of([](auto, auto v) { return power(v, 2); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return power(2, v); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return softmax(v, b); }, nans), nans));
  CHECK(same(of([](auto, auto v) { return log_softmax(v, b); }, nans), nans));
  // The gradient goes through relu at a nan; that of what gives nan is nan.
  CHECK(same(of([](auto s, auto v) { return derivative_of(s, v, relu(v)); }, {-1, no_number, 0, 5, -inf, inf}),
             {0, 2, 0, 1, 0, 3}));
}

TEST_CASE("elements of -inf take no part; where there are no others, softmax and all gradients are zero") {
  numbers const some = {0, -inf, std::log(3.0), -inf, -inf, -inf};
  CHECK(same(of([](auto, auto x) { return softmax(x, b); }, some), {0.25, 0, 0.75, 0, 0, 0}, 1e-15));
  CHECK(same(of([](auto, auto x) { return log_softmax(x, b); }, some),
             {-std::log(4.0), -inf, std::log(0.75), -inf, -inf, -inf}, 1e-15));
  CHECK(same(of([](auto, auto x) { return logsumexp(x, b); }, some), {std::log(4.0), -inf}, 1e-15));
  CHECK(of([](auto, auto x) { return logsumexp(x, b); }, {inf, -inf, 0, 1, inf, inf}) == numbers{inf, inf});
  CHECK(same(of([](auto s, auto x) { return derivative_of(s, x, softmax(x, b)); }, some), {-0.375, 0, 0.375, 0, 0, 0},
             1e-15));
  CHECK(same(of([](auto s, auto x) { return derivative_of(s, x, select(x < -9, 0, log_softmax(x, b))); }, some),
             {0, 0, 0, 0, 0, 0}, 1e-15));
  CHECK(same(of([](auto, auto x) { return gradient(sum(log_softmax(x, b)), x); }, some), {0.25, 1, -1.25, 0, 0, 0},
             1e-15));
  CHECK(
      same(of([](auto, auto x) { return gradient(sum(logsumexp(x, b)), x); }, some), {0.25, 0, 0.75, 0, 0, 0}, 1e-15));
  numbers const least(6, -std::numeric_limits<float>::max());  // finite, however low, is not masked
  CHECK(same(of<mt::dtype::f32>([](auto, auto x) { return softmax(x, b); }, least), numbers(6, 1.0f / 3)));
  CHECK(same(of<mt::dtype::bf16>([](auto, auto x) { return softmax(x, b); }, some), {0.25, 0, 0.75, 0, 0, 0}, 1e-2));
  CHECK(same(of<mt::dtype::bf16>([](auto, auto x) { return gradient(sum(logsumexp(x, b)), x); }, some),
             {0.25, 0, 0.75, 0, 0, 0}, 1e-2));
}

TEST_CASE("causal hides what comes after") {
  CHECK(of([](auto, auto x) { return causal(x, a, b); }, one_to_six) == numbers{1, -1e30, -1e30, 4, 5, -1e30});
  CHECK(of([](auto, auto x) { return causal(x, b, a); }, one_to_six) == numbers{1, 2, 3, -1e30, 5, 6});
}

TEST_CASE("movement") {
  CHECK(of([](auto, auto x) { return transpose(x, to(b, a)); }, one_to_six) == numbers{1, 4, 2, 5, 3, 6});
  CHECK(of([](auto, auto x) { return broadcast(sum(x, b), to(part, a)); }, one_to_six) == numbers{6, 15, 6, 15});
  CHECK(of([](auto, auto x) { return rename(x, b, row); }, one_to_six) == one_to_six);
  CHECK(of([](auto, auto x) { return merge(x, to(a, b), ab); }, one_to_six) == one_to_six);
  CHECK(of([](auto, auto x) { return merge(x, to(b, a), ab); }, one_to_six) == numbers{1, 4, 2, 5, 3, 6});
  CHECK(of([](auto, auto x) { return split(merge(x, to(b, a), ab), ab, to(b, a)); }, one_to_six) ==
        numbers{1, 4, 2, 5, 3, 6});
}

TEST_CASE("slices and pads with a step") {
  CHECK(of([](auto, auto x) { return slice(x, b, part, 0, 2); }, one_to_six) == numbers{1, 3, 4, 6});
  CHECK(of([](auto, auto x) { return slice(x, b, part, 2, -1); }, one_to_six) == numbers{3, 2, 6, 5});
  CHECK(of([](auto, auto x) { return slice(x, b, part, 2, -2); }, one_to_six) == numbers{3, 1, 6, 4});
  CHECK(of([](auto, auto x) { return slice(x, b, first, 1, 70); }, one_to_six) == numbers{2, 5});
  CHECK(of([](auto s, auto x) { return slice(x, b, part, s.step(), s.step() + 2.5); }, one_to_six) ==
        numbers{1, 3, 4, 6});  // known only when the step runs, rounded down
  CHECK(of([](auto, auto x) { return pad(x, b, wide, 1, 9, 2); }, one_to_six) ==
        numbers{9, 1, 9, 2, 9, 3, 9, 4, 9, 5, 9, 6});
  CHECK(of([](auto, auto x) { return pad(x, b, wide, 5, 0, -2); }, one_to_six) ==
        numbers{0, 3, 0, 2, 0, 1, 0, 6, 0, 5, 0, 4});
  CHECK(of([](auto, auto x) { return slice(pad(x, b, wide, 0, 9, 2), wide, row, 0, 2); }, one_to_six) == one_to_six);
  CHECK(of([](auto, auto x) { return gradient(sum(slice(x * x, b, part, 0, 2)), x); }, one_to_six) ==
        numbers{2, 0, 6, 8, 0, 12});
  CHECK(of([](auto s, auto x) { return gradient(sum(pad(x * x, b, wide, 5, 7, -2) * iota(s, wide, mt::f64)), x); },
           one_to_six) == numbers{10, 12, 6, 40, 30, 12});
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return slice(x, b, part, s.number("at", 1), 2); }, one_to_six),
                       "meshtensor R10: a slice of 'b' from 1 on in steps of 2, 2 long, reaches beyond its extent, 3",
                       mt::error);
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return slice(x, b, part, s.number("at", 0), -1); }, one_to_six),
                       "meshtensor R10: a slice of 'b' from 0 on in steps of -1, 2 long, reaches beyond its extent, 3",
                       mt::error);
  CHECK_THROWS_WITH_AS(
      of([](auto s, auto x) { return pad(x, b, wide, s.number("at", 0), 0, 3); }, one_to_six),
      "meshtensor R10: 'b', 3 long, padded from 0 on in steps of 3, reaches beyond the extent of 'wide', 6", mt::error);
  char const* const none = "meshtensor R10: the step of a slice or a pad is 0: give another whole number";
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return slice(x, b, first, 0, s.number("by", 0)); }, one_to_six), none,
                       mt::error);
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return pad(x, b, wide, 0, 0, s.number("by", 0.5)); }, one_to_six), none,
                       mt::error);
  CHECK_THROWS_WITH_AS(of([](auto, auto x) { return slice(x, b, first, 0, 0); }, one_to_six),
                       doctest::Contains("S03: a slice of 'b' has the step 0"), mt::error);
  CHECK_THROWS_WITH_AS(of([](auto, auto x) { return pad(x, b, wide, 0, 0, 0.5); }, one_to_six),
                       doctest::Contains("S03: a pad of 'b' has the step 0"), mt::error);
}

TEST_CASE("parts") {
  CHECK(of([](auto, auto x) { return slice(x, b, part, 1); }, one_to_six) == numbers{2, 3, 5, 6});
  CHECK(of([](auto, auto x) { return pad(x, b, wide, 2, 9); }, one_to_six) ==
        numbers{9, 9, 1, 2, 3, 9, 9, 9, 4, 5, 6, 9});
  CHECK(of([](auto, auto x) { return concat(x, b, slice(x, b, part, 0), part, joined); }, one_to_six) ==
        numbers{1, 2, 3, 1, 2, 4, 5, 6, 4, 5});
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return slice(x, b, part, s.number("at", 2)); }, one_to_six),
                       "meshtensor R10: a slice of 'b' from 2 on, 2 long, reaches beyond its extent, 3", mt::error);
  CHECK_THROWS_WITH_AS(of([](auto s, auto x) { return pad(x, b, wide, s.number("at", 4)); }, one_to_six),
                       "meshtensor R10: 'b', 3 long, padded from 4 on, reaches beyond the extent of 'wide', 6",
                       mt::error);
  CHECK(of([](auto, auto x) { return put(x, sum(x, b), b, 1); }, one_to_six) == numbers{1, 6, 3, 4, 15, 6});
  CHECK_THROWS_WITH_AS(of([](auto, auto x) { return put(x, sum(x, b), b, 3); }, one_to_six),
                       "meshtensor R10: put at 3, but the dim 'b' has 3 positions", mt::error);
  CHECK(of([](auto s, auto x) { return put(x, sum(x, b), b, iota(s, a, mt::i32) * 2); }, one_to_six) ==
        numbers{6, 2, 3, 4, 5, 15});  // a place for each a
  CHECK(of([](auto s, auto x) { return put(x, sum(x, b), b, iota(s, a, mt::i64) * 4 - 1); }, one_to_six) ==
        one_to_six);  // −1 and 3 are no places
  CHECK(of([](auto s, auto x) { return put(x, rename(x * 10, b, row), b, 2 - iota(s, row, mt::i32)); }, one_to_six) ==
        numbers{30, 20, 10, 60, 50, 40});
  CHECK(of([](auto s, auto x) { return put(x, rename(x * 10, b, row), b, iota(s, row, mt::i32) / 2); }, one_to_six) ==
        numbers{20, 30, 3, 50, 60, 6});  // of two that go to one place the last stays
}

TEST_CASE("grouped_einsum") {
  // Rows [1 2 3] and [4 5 6] by groups of matrices: 1 and 0, then 2, which is out of range.
  CHECK(of([](auto s, auto x) { return grouped_einsum(x, rename(x, a, part), 1 - iota(s, a, mt::i32), part, to(a)); },
           one_to_six) == numbers{32, 32});
  CHECK(of([](auto s, auto x) { return grouped_einsum(x, rename(x, a, part), iota(s, a, mt::u8) + 1, part, to(a, b)); },
           one_to_six) == numbers{4, 10, 18, 0, 0, 0});
  // The elements of each row, squared and summed in the groups 0, 0 and 2; group 1 is empty.
  CHECK(of([](auto s, auto x) { return grouped_einsum(x, x, iota(s, b, mt::i64) / 2 * 2, row, to(a, row)); },
           one_to_six) == numbers{5, 0, 9, 41, 0, 36});
  CHECK(of([](auto s, auto x) { return grouped_einsum(x, x, iota(s, b, mt::i64) - 1, row, to(row)); }, one_to_six) ==
        numbers{29, 45, 0});
  CHECK(of<mt::dtype::i32>(
            [](auto s, auto x) {
              return grouped_einsum(x, rename(rename(x, a, part), b, row), iota(s, row, mt::i32) % 2, part, to(a, b));
            },
            one_to_six) == numbers{9, 18, 27, 36, 45, 54});  // 1 + 5 + 3
}

TEST_CASE("slices that start at a tensor") {
  CHECK(of([](auto s, auto x) { return slice(x, b, part, zero(s) + 1); }, one_to_six) == numbers{2, 3, 5, 6});
  CHECK(of([](auto s, auto x) { return slice(x, b, part, zero(s) + 7); }, one_to_six) == numbers{2, 3, 5, 6});
  CHECK(of([](auto s, auto x) { return slice(x, b, part, zero(s) - 4); }, one_to_six) == numbers{1, 2, 4, 5});
  CHECK(of([](auto s, auto x) { return slice(x, b, part, iota(s, a, mt::u8)); }, one_to_six) == numbers{1, 2, 5, 6});
  CHECK(of([](auto s, auto x) { return slice(x, b, part, iota(s, row, mt::i64)); }, one_to_six) ==
        numbers{1, 2, 2, 2, 3, 3, 4, 5, 5, 5, 6, 6});  // [a, part, row]
  CHECK(of([](auto s, auto x) { return put(x, slice(x, b, part, 0) * 10, b, part, zero(s) + 1); }, one_to_six) ==
        numbers{1, 10, 20, 4, 40, 50});
  CHECK(of([](auto s, auto x) { return put(x, slice(x, b, part, 0) * 10, b, part, zero(s) + 9); }, one_to_six) ==
        numbers{1, 10, 20, 4, 40, 50});
  CHECK(of([](auto s, auto x) { return put(x, slice(x, b, part, 0) * 10, b, part, iota(s, a, mt::i32)); },
           one_to_six) == numbers{10, 20, 3, 4, 40, 50});
  // Of slices that overlap, the last one stays.
  CHECK(of(
            [](auto s, auto x) {
              auto const each = iota(s, row, mt::i32);
              return put(x, mt::cast<mt::f64>(each + 1) * slice(x, b, part, 0), b, part, each);
            },
            one_to_six) == numbers{1, 3, 6, 4, 12, 15});
  CHECK(of<mt::dtype::boolean>([](auto s, auto x) { return slice(x, b, part, zero(s) + 1); }, {1, 0, 1, 0, 0, 1}) ==
        numbers{0, 1, 0, 1});
  CHECK(of<mt::dtype::u8>([](auto s, auto x) { return slice(x, b, part, zero(s) + 1); }, one_to_six) ==
        numbers{2, 3, 5, 6});
  using open = slice_of_open_extent;
  auto const as_long_as = [](int extent) {
    auto p = trial::program::of<open>({open::some(extent)});
    p.fill("x", one_to_six), p.fill("start", {1});
    mt::block const y = p.run().at("y");
    numbers all;
    for (std::int64_t i = 0; i < y.size(); ++i) all.push_back(y.number_at(i));
    return all;
  };
  CHECK(as_long_as(2) == numbers{2, 3, 5, 6});
  CHECK(as_long_as(3) == one_to_six);
  CHECK_THROWS_WITH_AS(as_long_as(4),
                       doctest::Contains("S03: a slice of 'b/again' (3) from 0 on, as long as 'some/again' (4), "
                                         "reaches beyond its ends: it needs 'b/again' to be at least 4"),
                       mt::error);
  same_as_at_a_number<0>();
  same_as_at_a_number<1>();
  CHECK(of([](auto s, auto x) { return derivative_of(s, x, put(x, slice(x * x, b, part, 0), b, part, zero(s) + 1)); },
           one_to_six) == numbers{5, 12, 0, 17, 30, 0});  // 1 + 2 · 2 x₀, 3 · 2 x₁
}

TEST_CASE("lookup") {
  CHECK(of([](auto s, auto x) { return gather(x, iota(s, c, mt::i32) - 1, b); }, one_to_six) ==
        numbers{0, 0, 1, 4, 2, 5, 3, 6});  // c leads; the index −1 gives zeros
  CHECK(of([](auto s, auto x) { return gather(x, iota(s, a, mt::u8) + 1, b); }, one_to_six) ==
        numbers{2, 6});  // a is matched
  CHECK(of([](auto s, auto x) { return scatter_add(x, iota(s, b, mt::i64) * iota(s, a, mt::i64), row, to(row)); },
           one_to_six) == numbers{10, 5, 6});
  CHECK(of([](auto s, auto x) { return scatter_add(x, iota(s, b, mt::i32) + 1, row, to(a, row)); }, one_to_six) ==
        numbers{0, 1, 2, 0, 4, 5});  // what lies outside is lost
  CHECK(of<mt::dtype::i64>([](auto, auto x) { return one_hot(sum(x, b) - 6, c, mt::f32); }, {1, 2, 3, 3, 3, 3}) ==
        numbers{1, 0, 0, 0, 0, 0, 0, 1});
  CHECK(of<mt::dtype::i64>([](auto, auto x) { return one_hot(x, part, mt::i32); }, {0, 1, 2, -1, 1, 0}) ==
        numbers{1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0});
  CHECK(of([](auto s, auto x) { return x * iota(s, b, mt::f64); }, one_to_six) == numbers{0, 2, 6, 0, 5, 12});
}

TEST_CASE("one_hot of bytes over more classes than a byte counts") {
  CHECK(trial::result_of<bytes_as_classes<mt::dtype::u8>>({44, 255}) == numbers{1, 1});
}
