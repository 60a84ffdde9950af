// SPDX-License-Identifier: Apache-2.0
// Every function within the bound that its comment states, over its whole range, and at the special values.
// arch: baseline native
// optimize: 2
#include "meshtensor/base/math.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

namespace math = meshtensor::math;

namespace {

template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();
template <class T>
constexpr T top = std::numeric_limits<T>::max();

/// One unit in the last place of a T near x.
template <class T>
long double ulp(long double x) {
  x = std::fabs(x);
  if (x < std::numeric_limits<T>::min()) return std::numeric_limits<T>::denorm_min();
  int exponent;
  std::frexp(x, &exponent);
  return std::ldexp(1.0L, std::min(exponent, std::numeric_limits<T>::max_exponent) - std::numeric_limits<T>::digits);
}

template <class T>
double error_in_ulp(T got, long double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  if (std::isnan(got)) return 1e9;
  long double const bounded =
      std::isinf(got) ? std::copysign(top<T> + ulp<T>(top<T>), (long double)got) : (long double)got;
  if (std::isinf(static_cast<T>(want)) && std::isinf(got)) return got == static_cast<T>(want) ? 0 : 1e9;
  return static_cast<double>(std::min(1e9L, std::fabs(bounded - want) / ulp<T>(want)));
}

/// The worst error over numbers spread evenly, numbers spread over all exponents, and the special ones.
template <class T>
double worst(std::function<T(T)> f, std::function<long double(long double)> want, T low, T high) {
  std::mt19937_64 random(7);
  double result = 0;
  auto const at = [&](T x) { result = std::max(result, error_in_ulp<T>(f(x), want(x))); };
  for (int i = 0; i < 100000; ++i) {
    at(low + (high / 2 - low / 2) * static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52));
    T const any = std::bit_cast<T>(static_cast<typename math::ieee<T>::bits>(random()));
    if (any >= low && any <= high) at(any);
  }
  T const one(1), step = std::numeric_limits<T>::epsilon();
  for (T x :
       {T(0), one, one + step, one - step / 2, std::numeric_limits<T>::min(), std::numeric_limits<T>::denorm_min(),
        std::numeric_limits<T>::min() - std::numeric_limits<T>::denorm_min(), top<T>, inf<T>}) {
    at(x);
    at(-x);
  }
  at(std::numeric_limits<T>::quiet_NaN());
  return result;
}

}  // namespace

#define CHECK_BOUND(bound, f, want, low, high)             \
  CHECK(worst<T>([](T number) { return math::f(number); }, \
                 [](long double number) -> long double { return want(number); }, T(low), T(high)) <= bound)

TEST_CASE_TEMPLATE("errors stay within their bounds", T, float, double) {
  bool const wide = sizeof(T) == 8;
  CHECK_BOUND(1, exp, std::exp, -750, 720);
  CHECK_BOUND(1, exp, std::exp, -2, 2);
  double error = 0;  // of an argument that is not too large
  for (int i = 0; i <= 100000; ++i) {
    T const x = static_cast<T>((wide ? -707 : -86) + i * ((wide ? 787 : 166) / 100000.0));
    error = std::max(error, error_in_ulp<T>(math::exp_of_weight(x), std::exp(static_cast<long double>(x))));
  }
  CHECK(error <= 1);
  CHECK(math::exp_of_weight(T(-1e30)) == 0);
  CHECK(math::exp_of_weight(-inf<T>) == 0);
  CHECK(math::exp_of_weight(T(0)) == 1);
  CHECK(std::isnan(math::exp_of_weight(std::numeric_limits<T>::quiet_NaN())));
  CHECK_BOUND(2, expm1, std::expm1, -50, wide ? 709 : 88);
  CHECK_BOUND(2, expm1, std::expm1, -1, 1);
  CHECK_BOUND(1, log, std::log, 0, top<T>);
  CHECK_BOUND(1, log, std::log, 0.5, 2);
  CHECK_BOUND(2, log1p, std::log1p, -1, 1);
  CHECK_BOUND(2, log1p, std::log1p, 0, top<T>);
  CHECK_BOUND(3, tanh, std::tanh, -30, 30);
  CHECK_BOUND(3, tanh, std::tanh, -1, 1);
  CHECK_BOUND(2, erf, std::erf, -7, 7);
  CHECK_BOUND(3, sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, -750, 750);
  CHECK_BOUND(3, sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }, -5, 5);
  CHECK_BOUND(0.5, sqrt, std::sqrt, 0, top<T>);
  CHECK_BOUND(1.5, rsqrt, [](long double x) { return 1 / std::sqrt(x); }, 0, top<T>);
  CHECK_BOUND((wide ? 3 : 2), sin, std::sin, -10, 10);
  CHECK_BOUND((wide ? 3 : 2), cos, std::cos, -10, 10);
  CHECK_BOUND((wide ? 3 : 2), sin, std::sin, -1e6, 1e6);
  CHECK_BOUND((wide ? 3 : 2), cos, std::cos, -1e6, 1e6);
  CHECK_BOUND((wide ? 3 : 2), sin, std::sin, -top<T>, top<T>);
  CHECK_BOUND((wide ? 3 : 2), cos, std::cos, -top<T>, top<T>);
  CHECK_BOUND(0, floor, std::floor, -1e6, 1e6);
  CHECK_BOUND(0, ceil, std::ceil, -1e6, 1e6);
  CHECK_BOUND(0, round, std::nearbyint, -1e6, 1e6);
}

TEST_CASE_TEMPLATE("odd functions and roundings give zeros their sign, as the standard library does", T, float,
                   double) {
  auto const signs = [](T (*got)(T), T (*want)(T)) {
    for (T const zero : {T(0), -T(0)}) CHECK(std::signbit(got(zero)) == std::signbit(want(zero)));
  };
  signs(math::expm1<T>, std::expm1);
  signs(math::log1p<T>, std::log1p);
  signs(math::tanh<T>, std::tanh);
  signs(math::erf<T>, std::erf);
  signs(math::sin<T>, std::sin);
  signs(math::sqrt<T>, std::sqrt);
  signs(math::floor<T>, std::floor);
  signs(math::ceil<T>, std::ceil);
  signs(math::round<T>, std::nearbyint);
  signs(math::abs<T>, std::fabs);
}

TEST_CASE("sine and cosine beside the multiples of half a turn, where the reduction cancels") {
  double error = 0;
  for (int n = 1; n < 5200; ++n) {
    float const x = static_cast<float>(n * 1.57079632679489661923);
    for (float y : {x, std::nextafter(x, 0.0f), std::nextafter(x, 1e9f)}) {
      error = std::max(error, error_in_ulp(math::sin(y), std::sin(static_cast<long double>(y))));
      error = std::max(error, error_in_ulp(math::cos(y), std::cos(static_cast<long double>(y))));
    }
  }
  CHECK(error <= 2);
}

TEST_CASE_TEMPLATE("the two forms of gelu", T, float, double) {
  double error[2] = {};
  for (int i = -8000; i <= 8000; ++i) {
    T const x = static_cast<T>(i) * static_cast<T>(0.001);
    long double const v = x, plain = 0.5L * v * (1 + std::erf(v * std::sqrt(0.5L)));
    long double const inner = std::sqrt(2 / std::acos(-1.0L)) * (v + static_cast<T>(0.044715) * v * v * v);
    long double const curved = 0.5L * v * (1 + std::tanh(inner));
    error[0] = std::max(error[0], double(std::fabs(math::gelu(x) - plain) / std::max(ulp<T>(v / 2), ulp<T>(plain))));
    error[1] =
        std::max(error[1], double(std::fabs(math::gelu_tanh(x) - curved) / std::max(ulp<T>(v / 2), ulp<T>(curved))));
  }
  CHECK(error[0] <= 4);
  CHECK(error[1] <= 4);
}

TEST_CASE_TEMPLATE("powers", T, float, double) {
  std::mt19937_64 random(3);
  auto const unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  double error = 0;
  for (int i = 0; i < 50000; ++i) {
    T const x = static_cast<T>(std::exp(-8 + 16 * unit())), y = static_cast<T>(-80 + 160 * unit());
    long double const want = std::pow(static_cast<long double>(x), static_cast<long double>(y));
    bool const far = std::fabs(y * std::log(x)) > 100;
    error = std::max(error, error_in_ulp(math::pow(x, y), want) / (sizeof(T) == 4 ? 1 : far ? 12 : 3));
  }
  CHECK(error <= 1);
  CHECK(math::pow(T(3), T(2)) == 9);
  CHECK(math::pow(T(-2), T(3)) == -8);
  CHECK(math::pow(T(10), T(5)) == 100000);
  int wrong = 0;
  T const values[] = {0,
                      -T(0),
                      1,
                      -1,
                      2,
                      -2,
                      T(0.5),
                      T(-0.5),
                      3,
                      -3,
                      inf<T>,
                      -inf<T>,
                      std::numeric_limits<T>::quiet_NaN(),
                      T(0x1p23) + 1,
                      T(0x1p60)};
  for (T x : values)
    for (T y : values) {
      T const got = math::pow(x, y), want = static_cast<T>(std::pow(double{x}, double{y}));
      bool const same = std::isnan(want) ? std::isnan(got)
                                         : std::signbit(got) == std::signbit(want) && error_in_ulp<T>(got, want) <= 1;
      if (same) continue;
      ++wrong;
      MESSAGE(x << " to the " << y << " is " << got << ", not " << want);
    }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("nan is kept, zeros keep their sign", T, float, double) {
  T const nan = std::numeric_limits<T>::quiet_NaN();
  for (T other : {T(0), T(1), inf<T>, nan}) {
    CHECK(std::isnan(math::maximum(nan, other)));
    CHECK(std::isnan(math::maximum(other, nan)));
    CHECK(std::isnan(math::minimum(nan, other)));
    CHECK(std::isnan(math::minimum(other, nan)));
  }
  CHECK(math::maximum(T(1), T(2)) == 2);
  CHECK(math::minimum(T(1), T(2)) == 1);
  CHECK(std::isnan(math::gelu(nan)));
  CHECK(std::isnan(math::log(T(-1))));
  CHECK(std::isnan(math::sin(inf<T>)));
  CHECK(std::isnan(math::cos(-inf<T>)));
  for (T z : {T(0), -T(0)})
    for (T y : {math::tanh(z), math::erf(z), math::sin(z), math::round(z), math::floor(z)})
      CHECK(std::signbit(y) == std::signbit(z));
  CHECK(math::erf(inf<T>) == 1);
  CHECK(math::tanh(-inf<T>) == -1);
  CHECK(math::sigmoid(-inf<T>) == 0);
  CHECK(math::round(T(2.5)) == 2);
  CHECK(math::round(T(-3.5)) == -4);
}
