// SPDX-License-Identifier: Apache-2.0
// Instantiates the functions of base/math.hpp for registers. Registers and scalars share one source, so that every lane
// has a scalar's bits.
#pragma once

#include "meshtensor/base/math.hpp"
#include "meshtensor/device/cpu/simd.hpp"

namespace meshtensor::math {

template <class T>
struct lane<cpu::vec<T>> {
  using vec = cpu::vec<T>;
  using mask = cpu::mask<T>;
  using scalar = T;
  using bits = cpu::vec<typename ieee<T>::bits>;
  static vec fma(vec a, vec b, vec c) { return cpu::fma(a, b, c); }
  static vec select(mask condition, vec a, vec b) { return cpu::select(condition, a, b); }
  static vec greater(vec a, vec b) { return cpu::greater(a, b); }
  static vec lesser(vec a, vec b) { return cpu::lesser(a, b); }
  static vec sqrt(vec x) { return cpu::sqrt(x); }
  static bits to_bits(vec x) { return cpu::bits_as<typename ieee<T>::bits>(x); }
  static vec from_bits(bits b) { return cpu::bits_as<T>(b); }
  static bool any(mask m) { return cpu::any(m); }
  // Keeps the slow path, which few numbers take, out of the loops of many numbers.
  template <class F>
  [[gnu::noinline]] static vec each(F f, vec x) {
    auto a = x.lane_array();
    for (auto& s : a.at) s = f(s);
    return vec::of(a);
  }
  template <class F>
  [[gnu::noinline]] static vec each_as_double(F f, vec x, vec y) {
    auto a = x.lane_array();
    auto const b = y.lane_array();
    for (int i = 0; i < vec::width; ++i)
      a.at[i] = static_cast<T>(f(static_cast<double>(a.at[i]), static_cast<double>(b.at[i])));
    return vec::of(a);
  }
};

}  // namespace meshtensor::math
