// SPDX-License-Identifier: Apache-2.0
// Element types: the closed list, their sizes, and the C++ type that holds each.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace meshtensor {

/// The type of a tensor's elements. Programs name it by the values below, such as `mt::f32`.
enum class dtype : std::uint8_t { f64, f32, bf16, i32, i64, u8, boolean };

/// A dtype as a value with a type of its own, so that it can be a function argument: `s.input("x", mt::i32, …)`.
template <dtype T>
struct dtype_constant {
  static constexpr dtype value = T;
  constexpr operator dtype() const { return T; }  // NOLINT: it stands for the dtype
};

/// Floats of 64 bits, C++'s `double`.
inline constexpr dtype_constant<dtype::f64> f64{};
/// Floats of 32 bits, C++'s `float`: the dtype of programs and parameters unless `mt::precision` says otherwise.
inline constexpr dtype_constant<dtype::f32> f32{};
/// Floats of 16 bits with the exponents of f32, for storage. Arithmetic is that of f32, rounded to nearest even.
inline constexpr dtype_constant<dtype::bf16> bf16{};
/// Signed integers of 32 bits.
inline constexpr dtype_constant<dtype::i32> i32{};
/// Signed integers of 64 bits.
inline constexpr dtype_constant<dtype::i64> i64{};
/// Integers from 0 to 255, such as bytes of texts and images.
inline constexpr dtype_constant<dtype::u8> u8{};
/// True or false: the results of comparisons, and the conditions of `select`.
inline constexpr dtype_constant<dtype::boolean> boolean{};

/// A 16-bit float with the exponent range of f32, for storage. Arithmetic happens in f32 and is rounded to nearest
/// even.
struct bf16_t {
  std::uint16_t bits = 0;

  constexpr bf16_t() = default;
  constexpr bf16_t(float value) {  // NOLINT: rounding is what assigning to a bf16 means
    auto const u = std::bit_cast<std::uint32_t>(value);
    bool const nan = (u & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<std::uint16_t>(nan ? (u >> 16) | 0x40u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  constexpr operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }  // NOLINT
};

constexpr std::size_t bytes_of(dtype t) {
  switch (t) {
    case dtype::f64:
    case dtype::i64: return 8;
    case dtype::f32:
    case dtype::i32: return 4;
    case dtype::bf16: return 2;
    default: return 1;
  }
}

constexpr bool is_float(dtype t) { return t == dtype::f64 || t == dtype::f32 || t == dtype::bf16; }

/// The accumulator's type for sums of `t`: f32 for bf16, i64 for the integers.
constexpr dtype accumulator_of(dtype t) { return t == dtype::bf16 ? dtype::f32 : is_float(t) ? t : dtype::i64; }

constexpr char const* text_of(dtype t) {
  constexpr char const* names[] = {"f64", "f32", "bf16", "i32", "i64", "u8", "bool"};
  return names[static_cast<int>(t)];
}

namespace detail {
template <dtype T>
struct element;
template <>
struct element<dtype::f64> {
  using type = double;
};
template <>
struct element<dtype::f32> {
  using type = float;
};
template <>
struct element<dtype::bf16> {
  using type = bf16_t;
};
template <>
struct element<dtype::i32> {
  using type = std::int32_t;
};
template <>
struct element<dtype::i64> {
  using type = std::int64_t;
};
template <>
struct element<dtype::u8> {
  using type = std::uint8_t;
};
template <>
struct element<dtype::boolean> {
  using type = bool;
};
}  // namespace detail

/// The C++ type of one element.
template <dtype T>
using element_t = typename detail::element<T>::type;

/// The least finite number of a C++ type of floats.
template <class E>
inline constexpr double least_finite = std::numeric_limits<E>::lowest();
template <>
inline constexpr double least_finite<bf16_t> = -0x1.fep127;

/// Calls `f.operator()<E>()` with the C++ type of `t`: the one switch over dtypes.
template <class F>
constexpr decltype(auto) with_element(dtype t, F&& f) {
  switch (t) {
    case dtype::f64: return f.template operator()<double>();
    case dtype::f32: return f.template operator()<float>();
    case dtype::bf16: return f.template operator()<bf16_t>();
    case dtype::i32: return f.template operator()<std::int32_t>();
    case dtype::i64: return f.template operator()<std::int64_t>();
    case dtype::u8: return f.template operator()<std::uint8_t>();
    default: return f.template operator()<bool>();
  }
}

/// A set of dtypes.
struct dtypes {
  unsigned bits = 0;
  static constexpr dtypes all() { return {~0u}; }
  constexpr void add(dtype t) { bits |= 1u << static_cast<int>(t); }
  constexpr bool has(dtype t) const { return (bits >> static_cast<int>(t) & 1u) != 0; }
};
/// Does the same for a dtype of `Among`, and returns true. For other dtypes it returns false, instantiates nothing and
/// calls nothing.
template <dtypes Among, class F>
constexpr bool with_element(dtype t, F&& f) {
  return with_element(t, [&]<class E>() {
    constexpr bool is_among = [] {
      for (dtype u : {dtype::f64, dtype::f32, dtype::bf16, dtype::i32, dtype::i64, dtype::u8, dtype::boolean})
        if (Among.has(u) && with_element(u, []<class Found>() { return std::is_same_v<Found, E>; })) return true;
      return false;
    }();
    if constexpr (is_among) f.template operator()<E>();
    return is_among;
  });
}

}  // namespace meshtensor
