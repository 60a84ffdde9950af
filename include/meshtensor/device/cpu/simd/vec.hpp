// SPDX-License-Identifier: Apache-2.0
// Defines `vec<T>`, a SIMD register of numbers, with the operators of its lanes, and `mask<T>` of their comparisons.
#pragma once

#include <bit>
#include <cstddef>
#include <type_traits>

#include "meshtensor/device/cpu/simd/lanes.hpp"

#include "meshtensor/device/cpu/simd/undefined_registers.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The result of comparing two `vec<T>`, lane by lane.
template <class T>
struct mask {
  lane_mask<T> value;

  mask() = default;
  explicit mask(lane_mask<T> m) : value(m) {}
  friend mask operator&&(mask a, mask b) { return mask(a.value && b.value); }
  friend mask operator||(mask a, mask b) { return mask(a.value || b.value); }
  friend mask operator!(mask a) { return mask(!a.value); }
};

/// A register. T is float, double, or a 32-bit or 64-bit integer. Lane i holds element i of the loaded elements.
template <class T>
struct vec {
  static_assert(std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));
  using scalar = T;
  static constexpr int width = width_of<T>;
  /// The lanes in memory.
  struct alignas(sizeof(lanes<T>)) array {
    T at[static_cast<std::size_t>(width)];
  };

  lanes<T> value;

  vec() = default;
  explicit vec(T x) : value(x) {}  // x in every lane
  static vec of(lanes<T> v) {
    vec result;
    result.value = v;
    return result;
  }
  static vec of(array const& a) { return of(std::bit_cast<lanes<T>>(a)); }
  array lane_array() const { return std::bit_cast<array>(value); }

  // Integers wrap.
  friend vec operator+(vec a, vec b) { return of_wrapped(a.wrapped() + b.wrapped()); }
  friend vec operator-(vec a, vec b) { return of_wrapped(a.wrapped() - b.wrapped()); }
  friend vec operator*(vec a, vec b) { return of_wrapped(a.wrapped() * b.wrapped()); }
  friend vec operator/(vec a, vec b) {
    if constexpr (std::is_integral_v<T>) {
      auto x = a.lane_array();
      auto const y = b.lane_array();
      for (int i = 0; i < width; ++i) x.at[i] = static_cast<T>(x.at[i] / y.at[i]);
      return of(x);
    } else {
      return of(a.value / b.value);
    }
  }
  friend mask<T> operator<(vec a, vec b) { return mask<T>(a.value < b.value); }
  friend mask<T> operator<=(vec a, vec b) { return mask<T>(a.value <= b.value); }
  friend mask<T> operator>(vec a, vec b) { return b < a; }
  friend mask<T> operator>=(vec a, vec b) { return b <= a; }
  friend mask<T> operator==(vec a, vec b) { return mask<T>(a.value == b.value); }
  friend mask<T> operator!=(vec a, vec b) { return !(a == b); }  // true for NaN, but xsimd's is false

  // The following operators are for integers. >> keeps the sign of a signed integer.
  friend vec operator&(vec a, vec b) { return of(static_cast<lanes<T>>(a.value & b.value)); }
  friend vec operator|(vec a, vec b) { return of(static_cast<lanes<T>>(a.value | b.value)); }
  friend vec operator^(vec a, vec b) { return of(static_cast<lanes<T>>(a.value ^ b.value)); }
  friend vec operator~(vec a) { return a ^ vec(static_cast<T>(-1)); }
  friend vec operator<<(vec a, int by) { return of(static_cast<lanes<T>>(a.value << by)); }
  friend vec operator>>(vec a, int by) { return of(static_cast<lanes<T>>(a.value >> by)); }

 private:
  using wrapping =
      typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;
  lanes<wrapping> wrapped() const { return std::bit_cast<lanes<wrapping>>(value); }
  static vec of_wrapped(lanes<wrapping> v) { return of(std::bit_cast<lanes<T>>(v)); }
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu

#include "meshtensor/device/cpu/simd/undefined_registers_end.hpp"
