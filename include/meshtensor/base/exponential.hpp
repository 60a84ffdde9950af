// SPDX-License-Identifier: Apache-2.0
// exp, log, and functions built on them: expm1, log1p, tanh, sigmoid, erf. Error bounds are in ulp of the result.
#pragma once

#include <limits>

#include "meshtensor/base/lane.hpp"

namespace meshtensor::math {

namespace detail {

/// Minimax coefficients, fitted to the reduced ranges and rounded. The error in each comment is relative to the result.
template <class S>
struct constants;

template <>
struct constants<float> {
  static constexpr float log2_e = 0x1.715476p+0f, ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
  static constexpr float exp_lowest = -104, exp_highest = 89, exp_normal = -87;
  static constexpr float expm1_lowest = -18, tanh_highest = 10, erf_highest = 4;
  static constexpr std::uint32_t sqrt_half = 0x3f3504f3u;  // the bits of sqrt(1/2), where logarithms start a binade
  // (exp(r) - 1 - r)/r² for |r| <= ln2/2, with error 2^-28
  static constexpr float exp[] = {0.5f,           0x1.55552cp-3f,  0x1.555502p-5f,
                                  0x1.1155acp-7f, 0x1.6d2a38p-10f, 0x1.3b0ff6p-13f};
  // (log(1+f) - 2s)/(s·s²) for s = f/(2+f), with error 2^-30
  static constexpr float log[] = {0x1.55557ap-1f, 0x1.995ec2p-2f, 0x1.31e3fep-2f};
  // erf(x)/x - 1 in x² for |x| <= 1, with error 2^-29
  static constexpr float erf[] = {0x1.06eba8p-3f, -0x1.812740p-2f,  0x1.ce2d50p-4f, -0x1.b7fe8cp-6f,
                                  0x1.542dc8p-8f, -0x1.a507d4p-11f, 0x1.4c2862p-14f};
  // log(erfc(x)) for 1 <= x <= 4, with error 2^-35 of 1
  static constexpr float log_erfc[] = {0x1.8a556ap-13f, -0x1.212c0cp+0f, -0x1.44356cp-1f, -0x1.bc14e8p-4f,
                                       0x1.9d02a6p-6f,  -0x1.138c78p-8f, 0x1.cec67ap-12f, -0x1.6bdadap-16f};
};

template <>
struct constants<double> {
  static constexpr double log2_e = 0x1.71547652b82fep+0, ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  static constexpr double exp_lowest = -746, exp_highest = 710, exp_normal = -708;
  static constexpr double expm1_lowest = -38, tanh_highest = 20, erf_highest = 6;
  static constexpr std::uint64_t sqrt_half = 0x3fe6a09e667f3bcdu;
  static constexpr double exp[] = {0.5,
                                   0x1.5555555555559p-3,
                                   0x1.5555555555558p-5,
                                   0x1.111111110f931p-7,
                                   0x1.6c16c16c17529p-10,
                                   0x1.a01a01ae75bd5p-13,
                                   0x1.a01a0198f6c2cp-16,
                                   0x1.71ddfc6434f99p-19,
                                   0x1.27e50602c8903p-22,
                                   0x1.af575dff86a65p-26,
                                   0x1.1f226c5763402p-29};
  static constexpr double log[] = {0x1.5555555555593p-1, 0x1.999999997f98dp-2, 0x1.249249423484fp-2,
                                   0x1.c71c51ccae59ep-3, 0x1.74664c70a6b59p-3, 0x1.39a0443e6818ep-3,
                                   0x1.2f150b7ed647cp-3};
  static constexpr double erf[] = {0x1.06eba8214db69p-3,   -0x1.812746b037a27p-2,  0x1.ce2f21a045b85p-4,
                                   -0x1.b82ce31365f60p-6,  0x1.565bcd2f938a9p-8,   -0x1.c02db9dc5bb12p-11,
                                   0x1.f9a3cecd9ffadp-14,  -0x1.f4deb2244a6a6p-17, 0x1.ba811edcaaac4p-20,
                                   -0x1.6467e7029dfd1p-23, 0x1.17da582f6f4c1p-26,  -0x1.e309123cc5733p-30,
                                   0x1.65e8f8c67a521p-33};
  // 1 <= x <= 6
  static constexpr double log_erfc[] = {
      -0x1.a47ea315dd0cdp-26, -0x1.20dd715ce72afp+0,  -0x1.45f321cd736e2p-1,  -0x1.a4f38022f094dp-4,
      0x1.3968d847ed3a1p-6,   0x1.a5398b5defb52p-13,  -0x1.b6a3e06c7f7c5p-10, 0x1.20c9caaa38b35p-11,
      0x1.8411ae6281181p-16,  -0x1.d36b21e9a9348p-14, 0x1.10ee779587aaap-14,  -0x1.995805b159c38p-16,
      0x1.c9b6bcf309f66p-18,  -0x1.8ce663f2132dap-20, 0x1.0c425762ef6fep-22,  -0x1.16b09f9713affp-25,
      0x1.aee61a0b4da92p-29,  -0x1.d36f6c75f393fp-33, 0x1.3d82753076553p-37,  -0x1.965f8c592b1b0p-43};
};

/// exp(x) = (1 + tail)·2^n, where `shifted` is n + round_magic.
template <class V>
struct exp_parts {
  V shifted, n, tail;
};

/// Splits exp(x + rest), where `rest` is a low-order term of the argument, far below x.
template <class V, class... Rest>
constexpr exp_parts<V> split_exp(V x, Rest... rest) {
  using c = constants<scalar_of<V>>;
  V const magic(format_of<V>::round_magic);
  V const shifted = fma(x, V(c::log2_e), magic);
  V const n = shifted - magic;
  V const r = (fma(n, V(-c::ln2_low), fma(n, V(-c::ln2_high), x)) + ... + rest);
  return {shifted, n, fma(r * r, polynomial<c::exp>(r), r)};
}

/// (1 + tail)·2^n for any n, even outside the range of exponents, because 2^n is applied as two factors.
template <class V>
constexpr V joined(exp_parts<V> const& parts) {
  V const magic(format_of<V>::round_magic);
  V const half = fma(parts.n, V(scalar_of<V>(0.5)), magic);
  V const other = (parts.n - (half - magic)) + magic;
  return (V(1) + parts.tail) * power_of_two(half) * power_of_two(other);
}

template <class V>
constexpr V infinity() {
  return V(std::numeric_limits<scalar_of<V>>::infinity());
}
template <class V>
constexpr V nan() {
  return V(std::numeric_limits<scalar_of<V>>::quiet_NaN());
}

/// log(x) in the lanes where x is positive and finite.
template <class V>
constexpr V log_of_positive(V x) {
  using c = constants<scalar_of<V>>;
  using format = format_of<V>;
  using word = typename format::bits;
  auto const tiny = x < V(format::smallest_normal);
  V const scaled = select(tiny, x * V(format::integer_magic), x);
  word const one = std::bit_cast<word>(scalar_of<V>(1));
  auto const moved = to_bits(scaled) + bits_of<V>(one - c::sqrt_half);
  V const exponent = number_of<V>(moved >> format::mantissa_bits) -
                     select(tiny, V(format::bias + format::mantissa_bits), V(format::bias));
  auto const mantissa = moved & bits_of<V>((word{1} << format::mantissa_bits) - 1);
  V const f = from_bits<V>(mantissa + bits_of<V>(word{c::sqrt_half})) - V(1);
  V const s = f / (V(2) + f);
  V const z = s * s;
  V const half_square = V(scalar_of<V>(0.5)) * f * f;
  V const small = fma(s, fma(z, polynomial<c::log>(z), half_square), exponent * V(c::ln2_low));
  return fma(exponent, V(c::ln2_high), f - (half_square - small));
}

/// e^x - 1, but +0 for -0.
template <class V>
constexpr V expm1_without_sign(V x) {
  using c = constants<scalar_of<V>>;
  V const half(scalar_of<V>(0.5));
  auto const [shifted, n, tail] = split_exp(lesser(V(c::exp_highest), greater(V(c::expm1_lowest), x)));
  V const scale = power_of_two(shifted - V(1));  // half of 2^n, which stays in range
  V const result = fma(tail, scale, scale - half);
  return select(n == V(0), tail, result + result);
}

}  // namespace detail

/// e^x. Error at most 1 ulp. It is 0 or inf if the result leaves the range, and denormals are kept.
template <class V>
constexpr V exp(V x) {
  using c = detail::constants<scalar_of<V>>;
  return detail::joined(detail::split_exp(lesser(V(c::exp_highest), greater(V(c::exp_lowest), x))));
}

/// A faster e^x for x ≤ 80. It is 0 if the result would be near the smallest normal number or below. Error at most 1
/// ulp.
template <class V>
constexpr V exp_of_weight(V x) {
  using c = detail::constants<scalar_of<V>>;
  V const lowest(c::exp_normal);
  auto const parts = detail::split_exp(greater(lowest, x));
  return select(x < lowest, V(0), (V(1) + parts.tail) * power_of_two(parts.shifted));
}

/// e^x - 1, accurate near 0. The sign is that of x, also of zeros. Error at most 2 ulp.
template <class V>
constexpr V expm1(V x) {
  return with_sign(detail::expm1_without_sign(x), x);
}

/// The natural logarithm. Error at most 1 ulp. It is -inf at 0, and nan below.
template <class V>
constexpr V log(V x) {
  V const inf = detail::infinity<V>();
  V const special = select(x == V(0), V(0) - inf, select(x > V(0), x, detail::nan<V>()));
  return select(x > V(0) && x < inf, detail::log_of_positive(x), special);
}

/// log(1 + x), accurate near 0. The sign is that of x, also of zeros. Error at most 2 ulp. It is -inf at -1, and nan
/// below.
template <class V>
constexpr V log1p(V x) {
  V const u = V(1) + x;
  V const back = u - V(1);
  V const lost = (V(1) - (u - back)) + (x - back);  // the rounding error of 1 + x
  V const result = log(u);
  return with_sign(select(u > V(0) && u < detail::infinity<V>(), result + lost / u, result), x);
}

/// The hyperbolic tangent. Error at most 4 ulp, small arguments included.
template <class V>
constexpr V tanh(V x) {
  V const t = detail::expm1_without_sign(lesser(V(detail::constants<scalar_of<V>>::tanh_highest), abs(x)) * V(2));
  return with_sign(t / (t + V(2)), x);
}

/// 1/(1 + e^-x). Error at most 3 ulp on both sides, denormals included.
template <class V>
constexpr V sigmoid(V x) {
  V const e = exp(negate(abs(x)));
  return select(x < V(0), e, V(1)) / (V(1) + e);
}

/// The error function. Error at most 2 ulp.
template <class V>
constexpr V erf(V x) {
  using c = detail::constants<scalar_of<V>>;
  V const a = abs(x);
  V const near = fma(x, polynomial<c::erf>(x * x), x);
  auto const [shifted, n, tail] = detail::split_exp(polynomial<c::log_erfc>(lesser(V(c::erf_highest), a)));
  V const far = V(1) - (V(1) + tail) * power_of_two(shifted);
  return select(a < V(1), near, with_sign(far, x));
}

}  // namespace meshtensor::math
