// SPDX-License-Identifier: Apache-2.0
// Scalar functions: the definition of every elementwise operation, for one element or a register of them.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/function.hpp"
#include "meshtensor/base/math.hpp"
#include "meshtensor/base/reduction.hpp"
#include "meshtensor/base/saturating.hpp"
#include "meshtensor/base/sum.hpp"

namespace meshtensor {

/// A function of floats, for a scalar and for a register (see math::lane): the same bits at every position. With a nan
/// operand the result is nan, as in PyTorch, except that sign gives 0.
template <function F, class V>
constexpr V apply_to_floats(V a, [[maybe_unused]] V b) {
  using s = math::scalar_of<V>;
  [[maybe_unused]] V const zero(s(0)), one(s(1));
  if constexpr (F == function::negate) return math::negate(a);
  else if constexpr (F == function::abs) return math::abs(a);
  else if constexpr (F == function::sign) return math::select(zero < a, one, zero) - math::select(a < zero, one, zero);
  else if constexpr (F == function::floor) return math::floor(a);
  else if constexpr (F == function::exp) return math::exp(a);
  else if constexpr (F == function::log) return math::log(a);
  else if constexpr (F == function::sqrt) return math::sqrt(a);
  else if constexpr (F == function::rsqrt) return math::rsqrt(a);
  else if constexpr (F == function::sin) return math::sin(a);
  else if constexpr (F == function::cos) return math::cos(a);
  else if constexpr (F == function::tanh) return math::tanh(a);
  else if constexpr (F == function::sigmoid) return math::sigmoid(a);
  else if constexpr (F == function::erf) return math::erf(a);
  else if constexpr (F == function::relu) return math::select(a <= zero, zero, a);
  else if constexpr (F == function::add) return a + b;
  else if constexpr (F == function::subtract) return a - b;
  else if constexpr (F == function::multiply) return a * b;
  else if constexpr (F == function::divide) return a / b;
  else if constexpr (F == function::modulo) return math::modulo(a, b);
  else if constexpr (F == function::power) return math::pow(a, b);
  else if constexpr (F == function::maximum) return math::maximum(a, b);
  else if constexpr (F == function::minimum) return math::minimum(a, b);
  else return a;
}

namespace detail {

/// Integers of 32 and 64 bits wrap around, as SIMD registers do.
template <class T>
using wrapping_t =
    std::conditional_t<(sizeof(T) < 4), int, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

template <class T>
constexpr T divided(T a, T b) {
  using w = wrapping_t<T>;
  if (b == T(0)) return T(0);
  if constexpr (std::is_signed_v<T>)
    if (b == T(-1)) return static_cast<T>(w(0) - static_cast<w>(a));
  return static_cast<T>(a / b);
}
/// The remainder has the sign of the divisor.
template <class T>
constexpr T remainder(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return T(0);
    T const r = static_cast<T>(a % b);
    return r != T(0) && ((r < T(0)) != (b < T(0))) ? static_cast<T>(r + b) : r;
  } else {
    return static_cast<T>(a % b);
  }
}
/// Integer powers. A negative exponent gives the reciprocal, truncated to an integer.
template <class T>
constexpr T raised(T a, T b) {
  using w = wrapping_t<T>;
  if constexpr (std::is_signed_v<T>)
    if (b < T(0)) return a == T(1) || (a == T(-1) && b % 2 == 0) ? T(1) : a == T(-1) ? T(-1) : T(0);
  auto base = static_cast<w>(a), result = w(1);
  for (auto n = static_cast<std::uint64_t>(b); n != 0; n >>= 1, base = static_cast<w>(static_cast<T>(base * base)))
    if ((n & 1u) != 0) result = static_cast<w>(static_cast<T>(result * base));
  return static_cast<T>(result);
}

template <class T>
constexpr T apply_to_integers(function f, T a, T b) {
  using w = wrapping_t<T>;
  auto const x = static_cast<w>(a), y = static_cast<w>(b);
  switch (f) {
    case function::negate: return static_cast<T>(w(0) - x);
    case function::abs: return a < T(0) ? static_cast<T>(w(0) - x) : a;
    case function::sign: return static_cast<T>((T(0) < a) - (a < T(0)));
    case function::relu: return T(0) < a ? a : T(0);
    case function::add: return static_cast<T>(x + y);
    case function::subtract: return static_cast<T>(x - y);
    case function::multiply: return static_cast<T>(x * y);
    case function::divide: return divided(a, b);
    case function::modulo: return remainder(a, b);
    case function::power: return raised(a, b);
    case function::maximum: return a < b ? b : a;
    case function::minimum: return b < a ? b : a;
    default: return a;
  }
}

/// The functions of floats, in the order of `function`.
template <class T>
inline constexpr auto functions_of_floats = []<std::size_t... F>(std::index_sequence<F...>) {
  return std::array{&meshtensor::apply_to_floats<static_cast<function>(F), T>...};
}(std::make_index_sequence<static_cast<std::size_t>(function::count_)>());

}  // namespace detail

/// A function of operands of one type. Comparisons and logic return a bool, which is converted. Integers wrap around
/// and divide towards zero. A division of integers by zero gives zero.
template <class T>
constexpr T apply(function f, T a, T b) {
  switch (f) {
    case function::logical_not: return static_cast<T>(!static_cast<bool>(a));
    case function::logical_and: return static_cast<T>(static_cast<bool>(a) && static_cast<bool>(b));
    case function::logical_or: return static_cast<T>(static_cast<bool>(a) || static_cast<bool>(b));
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) return detail::functions_of_floats<T>[static_cast<std::size_t>(f)](a, b);
  else if constexpr (std::is_same_v<T, bool>)
    return f == function::maximum ? a || b : f == function::minimum ? a && b : a;
  else return detail::apply_to_integers(f, a, b);
}

template <class T>
constexpr bool compare(function f, T a, T b) {
  switch (f) {
    case function::equal: return a == b;
    case function::not_equal: return a != b;
    case function::less: return a < b;
    default: return a <= b;
  }
}

/// Whether `a` comes before `b` in descending order. A nan is greater than any number.
template <class T>
constexpr bool is_greater(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a > b || (a != a && b == b);
  else return a > b;
}

/// The type in which one element is computed: float for bf16, itself otherwise.
template <class E>
using arithmetic_t = std::conditional_t<std::is_same_v<E, bf16_t>, float, E>;

/// The accumulator's type for sums of E: see accumulator_of.
template <class E>
using sum_t = std::conditional_t<std::is_same_v<E, bf16_t>, float,
                                 std::conditional_t<std::is_floating_point_v<E>, E, std::int64_t>>;

/// The maximum or minimum of no elements of type E, which changes no other maximum or minimum.
template <class E>
constexpr auto neutral(reduction how) {
  if constexpr (std::is_same_v<E, bool>) return how == reduction::min;
  else if constexpr (std::is_integral_v<E>)
    return how == reduction::max ? std::numeric_limits<E>::lowest() : std::numeric_limits<E>::max();
  else return (how == reduction::max ? -1 : 1) * std::numeric_limits<arithmetic_t<E>>::infinity();
}

/// An element as one of type To, as `cast` converts it: floats round to nearest even, and integers saturate.
template <class To, class From>
constexpr To converted(From element) {
  auto const x = static_cast<arithmetic_t<From>>(element);
  if constexpr (std::is_floating_point_v<arithmetic_t<From>> && std::is_integral_v<To> && !std::is_same_v<To, bool>)
    return saturated_integer<To>(x);
  else return static_cast<To>(static_cast<arithmetic_t<To>>(x));
}

/// A number as an element of type E. For integers it is the nearest one below.
template <class E>
constexpr E element_of(double n) {
  if constexpr (std::is_same_v<E, bf16_t>) return bf16_t(static_cast<float>(n));
  else if constexpr (std::is_floating_point_v<E>) return static_cast<E>(n);
  else if constexpr (std::is_same_v<E, bool>) return n != 0;
  else return static_cast<E>(std::floor(n));
}

}  // namespace meshtensor
