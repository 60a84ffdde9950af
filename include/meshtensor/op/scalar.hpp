// Scalar functions as plain code: the meaning of every elementwise operation, for one element.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/function.hpp"

namespace meshtensor {

/// One function of operands of one type. Comparisons and logic give a bool, which converts. Integers divide towards zero;
/// a remainder has the sign of the divisor.
template <class T> T apply(function f, T a, T b) {
  constexpr bool real = std::is_floating_point_v<T>;
  switch (f) {
    case function::copy:
    case function::cast:
    case function::stop_gradient: return a;
    case function::negate: return static_cast<T>(-a);
    case function::abs: return a < T(0) ? static_cast<T>(-a) : a;
    case function::sign: return static_cast<T>((T(0) < a) - (a < T(0)));
    case function::relu: return T(0) < a ? a : T(0);
    case function::logical_not: return static_cast<T>(!static_cast<bool>(a));
    case function::add: return static_cast<T>(a + b);
    case function::subtract: return static_cast<T>(a - b);
    case function::multiply: return static_cast<T>(a * b);
    case function::maximum: return a < b ? b : a;
    case function::minimum: return b < a ? b : a;
    case function::logical_and: return static_cast<T>(static_cast<bool>(a) && static_cast<bool>(b));
    case function::logical_or: return static_cast<T>(static_cast<bool>(a) || static_cast<bool>(b));
    default: break;
  }
  if constexpr (real) {
    switch (f) {
      case function::divide: return a / b;
      case function::modulo: return a - b * std::floor(a / b);
      case function::power: return std::pow(a, b);
      case function::floor: return std::floor(a);
      case function::exp: return std::exp(a);
      case function::log: return std::log(a);
      case function::sqrt: return std::sqrt(a);
      case function::rsqrt: return T(1) / std::sqrt(a);
      case function::sin: return std::sin(a);
      case function::cos: return std::cos(a);
      case function::tanh: return std::tanh(a);
      case function::sigmoid: return T(1) / (T(1) + std::exp(-a));
      case function::erf: return std::erf(a);
      default: break;
    }
  } else {
    switch (f) {
      case function::divide: return b == T(0) ? T(0) : static_cast<T>(a / b);
      case function::modulo: {
        if (b == T(0)) return T(0);
        T const r = static_cast<T>(a % b);
        return r != T(0) && ((r < T(0)) != (b < T(0))) ? static_cast<T>(r + b) : r;
      }
      default: break;
    }
  }
  return a;
}

template <class T> bool compare(function f, T a, T b) {
  switch (f) {
    case function::equal: return a == b;
    case function::not_equal: return a != b;
    case function::less: return a < b;
    default: return a <= b;
  }
}

/// The type in which one element is computed: float for bf16, itself otherwise.
template <class E> using arithmetic_t = std::conditional_t<std::is_same_v<E, bf16_t>, float, E>;

/// The type in which sums of E are made: see accumulator_of.
template <class E>
using sum_t = std::conditional_t<std::is_same_v<E, bf16_t>, float,
                                 std::conditional_t<std::is_floating_point_v<E>, E, std::int64_t>>;

/// A number as an element of type E; for integers the nearest one below.
template <class E> E element_of(double n) {
  if constexpr (std::is_same_v<E, bf16_t>) return bf16_t(static_cast<float>(n));
  else if constexpr (std::is_floating_point_v<E>) return static_cast<E>(n);
  else if constexpr (std::is_same_v<E, bool>) return n != 0;
  else return static_cast<E>(std::floor(n));
}

}  // namespace meshtensor
