// SPDX-License-Identifier: Apache-2.0
// The initial values of parameters and state, and their text.
#pragma once

#include "meshtensor/graph/element_number.hpp"

namespace meshtensor {

/// The initial value of a variable. `automatic` is the default of parameters. It gives zeros to a variable with at most
/// one dim. Otherwise the numbers are normal with standard deviation 1/√(first extent).
struct initializer {
  initializer_kind kind;
  number argument;
};
/// Starts a variable with this number everywhere, for example `s.parameter("scale", channels, mt::constant(0.1))`.
constexpr initializer constant(number const& value) { return {initializer_kind::constant, value}; }
/// Starts a variable with numbers of a normal distribution around 0. They depend on the store's seed and on the
/// variable's name, but not on the mesh or the layout.
constexpr initializer normal(number const& standard_deviation) {
  return {initializer_kind::normal, standard_deviation};
}
/// Starts a variable with numbers from a uniform distribution between -half_width and half_width.
constexpr initializer uniform(number const& half_width) { return {initializer_kind::uniform, half_width}; }
/// Starts a variable with zeros.
inline constexpr initializer zeros = constant(0);
/// Starts a variable with ones, for example `s.parameter("gain", channels, mt::ones)`.
inline constexpr initializer ones = constant(1);

namespace detail {

/// Adds the initializer of a variable, for example ` ones` or ` normal(0.02)`.
constexpr diagnostic& add_start(diagnostic& d, module const& m, initializer_kind kind, number_id row) {
  number_row const& n = m.numbers[row];
  if (kind == initializer_kind::automatic) return d << "no initializer";
  if (kind == initializer_kind::constant && n.kind == number_row::literal && (n.value == 0 || n.value == 1))
    return d << (n.value == 0 ? "zeros" : "ones");
  d << (kind == initializer_kind::constant ? "constant(" : kind == initializer_kind::normal ? "normal(" : "uniform(");
  if (n.kind == number_row::literal) add_exact(d, n.value);
  else d << (n.kind == number_row::named ? m.names[n.first] : name("..."));
  return d << ")";
}

}  // namespace detail

}  // namespace meshtensor
