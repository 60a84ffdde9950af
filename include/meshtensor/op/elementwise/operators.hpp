// SPDX-License-Identifier: Apache-2.0
// The derivatives of the functions that users write as operators (tensor/arithmetic.hpp), and of a copy.
#pragma once

#include "meshtensor/op/elementwise/derivative.hpp"

namespace meshtensor {

template <>
struct derivative<function::copy> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return f.dy; });
  }
};
template <>
struct derivative<function::negate> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return negate(f.b, f.dy); });
  }
};
template <>
struct derivative<function::add> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return f.dy; });
    f.give(1, [&] { return f.dy; });
  }
};
template <>
struct derivative<function::subtract> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return f.dy; });
    f.give(1, [&] { return negate(f.b, f.dy); });
  }
};
template <>
struct derivative<function::multiply> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return multiply(f.b, f.dy, f.z()); });
    f.give(1, [&] { return multiply(f.b, f.dy, f.x()); });
  }
};
template <>
struct derivative<function::divide> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return divide(f.b, f.dy, f.z()); });
    f.give(1, [&] { return negate(f.b, divide(f.b, {multiply(f.b, f.dy, f.y()), f.z()})); });
  }
};
/// A remainder is x - n z, where the integer n has gradient 0.
template <>
struct derivative<function::modulo> {
  static constexpr void give(differentiated_function const& f) {
    f.give(0, [&] { return f.dy; });
    f.give(1, [&] {
      value_id const whole = divide(f.b, {subtract(f.b, {f.x(), f.y()}), f.z()});
      value_id const times = elementwise(f.b, function::floor, add(f.b, {whole, f.number(0.5)}));
      value_id const is_divisor = elementwise(f.b, function::equal, {f.y(), f.z()});  // if z is infinite, too
      return negate(f.b, multiply(f.b, f.dy, select(f.b, {is_divisor, f.number(-1), times})));
    });
  }
};

}  // namespace meshtensor
