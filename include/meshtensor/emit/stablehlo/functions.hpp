// SPDX-License-Identifier: Apache-2.0
// Emits the library's scalar functions as StableHLO operations on whole values.
#pragma once

#include "meshtensor/base/exponential.hpp"
#include "meshtensor/base/function.hpp"
#include "meshtensor/emit/stablehlo/operations.hpp"

namespace meshtensor::hlo {

namespace detail {

template <class S, std::size_t N>
value polynomial(writer& w, value const& x, S const (&coefficients)[N]) {
  value r = like(w, x, coefficients[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;)
    r = binary(w, "add", {binary(w, "multiply", {r, x}), like(w, x, coefficients[i])});
  return r;
}
/// StableHLO has no erf, so these are the library's own polynomials.
template <class S>
value erf_in(writer& w, value const& x) {
  using c = math::detail::constants<S>;
  value const size = unary(w, "abs", x);
  value const near =
      binary(w, "add", {x, binary(w, "multiply", {x, polynomial(w, binary(w, "multiply", {x, x}), c::erf)})});
  value const most = binary(w, "minimum", {size, like(w, x, c::erf_highest)});
  value const rest = unary(w, "exponential", polynomial(w, most, c::log_erfc));
  value const far = binary(w, "multiply", {unary(w, "sign", x), binary(w, "subtract", {like(w, x, 1), rest})});
  return select(w, {compare(w, "LT", {size, like(w, x, 1)}), near, far});
}
inline value erf(writer& w, value const& x) {
  if (x.type.element == "f64") return erf_in<double>(w, x);
  return convert(w, erf_in<float>(w, convert(w, x, "f32")), x.type.element);
}

/// An integer divided by zero is zero.
inline value divided(writer& w, char const* how, value const& x, value const& y) {
  value const zero = like(w, x, 0), by_zero = compare(w, "EQ", {y, zero});
  return select(w, {by_zero, zero, binary(w, how, {x, select(w, {by_zero, like(w, x, 1), y})})});
}
/// The remainder has the sign of the divisor.
inline value modulo(writer& w, value const& x, value const& y, bool floats) {
  value const r = floats ? binary(w, "remainder", {x, y}) : divided(w, "remainder", x, y), zero = like(w, x, 0);
  value const other_sign = compare(w, "NE", {compare(w, "LT", {r, zero}), compare(w, "LT", {y, zero})});
  value const moves = binary(w, "and", {compare(w, "NE", {r, zero}), other_sign});
  return select(w, {moves, binary(w, "add", {r, y}), r});
}

inline value sign(writer& w, value const& x) {  // the sign of a NaN is 0
  value const zero = like(w, x, 0);
  value const above = convert(w, compare(w, "LT", {zero, x}), x.type.element);
  return binary(w, "subtract", {above, convert(w, compare(w, "LT", {x, zero}), x.type.element)});
}
/// Where relu is 0. If a bf16 was rounded from an f32, this compares the f32. The relu is the same, because a value
/// that is rounded to 0 gives 0 in both comparisons.
inline value is_rectified(writer& w, value const& x) {
  value const wide = x.narrowed_from.empty() ? widened(w, x) : value{x.narrowed_from, {"f32", x.type.shape}};
  return compare(w, "LE", {wide, like(w, wide, 0)});
}

}  // namespace detail

/// Whether a type is a float. Only the names of float types begin with f, or with b for bf16.
inline bool is_float(std::string const& element) { return element[0] == 'f' || element[0] == 'b'; }

/// A function of operands of one shape. A cast is to `element`. If the function has one operand, pass it as `y`, too.
inline value apply(writer& w, function f, value const& x, value const& y, std::string const& element) {
  bool const floats = is_float(x.type.element);
  switch (f) {
    case function::copy:
    case function::stop_gradient:
    case function::select:  // has three operands, so it is not emitted here
    case function::count_: return x;
    case function::cast: return element == "i1" ? compare(w, "NE", {x, like(w, x, 0)}) : convert(w, x, element);
    case function::negate: return unary(w, "negate", x);
    case function::abs: return x.type.element == "ui8" ? x : unary(w, "abs", x);
    case function::sign: return detail::sign(w, x);
    case function::floor: return floats ? unary(w, "floor", x) : x;
    case function::exp: return unary(w, "exponential", x);
    case function::log: return unary(w, "log", x);
    case function::sqrt: return unary(w, "sqrt", x);
    case function::rsqrt: return unary(w, "rsqrt", x);
    case function::sin: return unary(w, "sine", x);
    case function::cos: return unary(w, "cosine", x);
    case function::tanh: return unary(w, "tanh", x);
    case function::sigmoid: return unary(w, "logistic", x);
    case function::erf: return detail::erf(w, x);
    case function::relu: return select(w, {detail::is_rectified(w, x), like(w, x, 0), x});
    case function::logical_not: return unary(w, "not", x);
    case function::add: return binary(w, "add", {x, y});
    case function::subtract: return binary(w, "subtract", {x, y});
    case function::multiply: return binary(w, "multiply", {x, y});
    case function::divide: return floats ? binary(w, "divide", {x, y}) : detail::divided(w, "divide", x, y);
    case function::modulo: return detail::modulo(w, x, y, floats);
    case function::power: return binary(w, "power", {x, y});
    case function::maximum: return binary(w, "maximum", {x, y});
    case function::minimum: return binary(w, "minimum", {x, y});
    case function::equal: return compare(w, "EQ", {x, y});
    case function::not_equal: return compare(w, "NE", {x, y});
    case function::less: return compare(w, "LT", {x, y});
    case function::less_equal: return compare(w, "LE", {x, y});
    case function::logical_and: return binary(w, "and", {x, y});
    case function::logical_or: return binary(w, "or", {x, y});
  }
  return x;
}

}  // namespace meshtensor::hlo
