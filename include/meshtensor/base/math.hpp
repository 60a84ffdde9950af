// SPDX-License-Identifier: Apache-2.0
// Elementary functions from +, -, *, /, sqrt and our own polynomials only, so that plain loops and vector code give the
// same bits. No function calls the system's math library.
#pragma once

#include "meshtensor/base/exponential.hpp"
#include "meshtensor/base/power.hpp"
#include "meshtensor/base/remainder.hpp"
#include "meshtensor/base/trigonometry.hpp"

namespace meshtensor::math {

template <class V>
constexpr V sqrt(V x) {
  return lane<V>::sqrt(x);
}

/// 1/sqrt(x) by two correctly rounded operations, so the error is at most 1.5 ulp. It is inf at 0.
template <class V>
constexpr V rsqrt(V x) {
  return V(1) / sqrt(x);
}

/// x·Φ(x), where Φ is the normal distribution. Error at most 4 ulp of max(|x|/2, |result|).
/// Source: Hendrycks and Gimpel, arXiv:1606.08415.
template <class V>
constexpr V gelu(V x) {
  V const half = V(scalar_of<V>(0.5)) * x;
  return fma(half, erf(x * V(scalar_of<V>(0x1.6a09e667f3bcdp-1))), half);
}

/// The tanh approximation of gelu that GPT-2 uses, with the same error bound.
template <class V>
constexpr V gelu_tanh(V x) {
  V const half = V(scalar_of<V>(0.5)) * x;
  V const inner = fma(x * x * x, V(scalar_of<V>(0.044715)), x) * V(scalar_of<V>(0x1.9884533d43651p-1));
  return fma(half, tanh(inner), half);
}

/// Maximum and minimum, or nan if either operand is nan.
template <class V>
constexpr V maximum(V a, V b) {
  return select(a != a, a, greater(a, b));
}
template <class V>
constexpr V minimum(V a, V b) {
  return select(a != a, a, lesser(a, b));
}

/// The nearest integer, ties to even.
template <class V>
constexpr V round(V x) {
  V const a = abs(x);
  V const magic(format_of<V>::integer_magic);
  return select(a < magic, with_sign((a + magic) - magic, x), x);
}

/// Floor and ceiling.
template <class V>
constexpr V floor(V x) {
  V const r = round(x);
  return select(r > x, r - V(1), r);
}
template <class V>
constexpr V ceil(V x) {
  return negate(floor(negate(x)));
}

}  // namespace meshtensor::math
