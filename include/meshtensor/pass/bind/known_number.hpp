// SPDX-License-Identifier: Apache-2.0
// Finds the numbers of a program that are known before its first step: literals, and numbers computed from extents.
#pragma once

#include <optional>

#include "meshtensor/op/detail/number_arithmetic.hpp"
#include "meshtensor/pass/bind/binding.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// A row of the table of numbers, if its value is known before the first step.
constexpr std::optional<number_value> known_number(module const& m, binding const& b, number_id row) {
  number_row const& n = m.numbers[row];
  if (n.kind == number_row::literal) return n.value;
  if (n.kind == number_row::extent) return number_value(b.extent[n.first]);
  if (n.kind != number_row::expression) return {};
  auto const first = static_cast<number_id>(n.first), second = static_cast<number_id>(n.second);
  auto const x = known_number(m, b, first),
             y = second == no_id ? std::optional(number_value(0)) : known_number(m, b, second);
  if (!x || !y) return {};
  return apply_to_numbers(n.f, *x, *y);
}

/// A number rounded down, if it is known before the first step and can be a position.
constexpr std::optional<std::int64_t> known_position(module const& m, binding const& b, number_id row) {
  auto const x = known_number(m, b, row);
  if (!x || x->rest != 0 || !(x->real >= -0x1p53 && x->real <= 0x1p53)) return {};
  auto const whole = static_cast<std::int64_t>(x->real);
  return whole - (static_cast<double>(whole) > x->real ? 1 : 0);
}
/// The step of a slice or a pad, if it is known in the same way and is not 0. Without a row, the step is 1.
constexpr std::optional<std::int64_t> known_step(module const& m, binding const& b, number_id row) {
  if (row == no_id) return 1;
  auto const step = known_position(m, b, row);
  return step && *step != 0 ? step : std::nullopt;
}
constexpr std::optional<positions> known_positions(module const& m, binding const& b, number_id first, number_id step) {
  auto const at = known_position(m, b, first), by = known_step(m, b, step);
  if (!at || !by) return {};
  return positions{*at, *by};
}

/// The numbers of a window, if they are known before the first step.
constexpr std::optional<window_numbers> known_window(module const& m, binding const& b, window_row const& w) {
  auto const low = known_position(m, b, w.low);
  if (!low || b.extent[w.kernel] == 0) return {};
  return window_numbers{w.stride, w.dilation, *low, b.extent[w.kernel]};
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
