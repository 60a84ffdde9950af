// SPDX-License-Identifier: Apache-2.0
// Emits the positions of the greatest elements of windows, by one comparison and one selection for each position.
#pragma once

#include "meshtensor/emit/stablehlo/functions.hpp"
#include "meshtensor/emit/stablehlo/pool_windows.hpp"

namespace meshtensor::hlo {

/// Compares from the last element of a window to the first. An element takes the place of the greatest so far if it is
/// as great or a NaN. Therefore the first one among equals is found.
class greatest_positions : pool_windows {
 public:
  using pool_windows::pool_windows;

  value written() {
    value const x = reached(0), all = padded(x);
    value const nowhere = constant(e_.w, to_, pool_rule::nowhere);
    value found{}, best{};
    std::optional<value> met;  // whether an element so far was no padding; empty: in all windows
    for (std::int64_t position = elements(); position-- > 0;) {
      extents const element = element_at(position);
      value const candidate = widened(e_.w, taken(all, element)), here = constant(e_.w, to_, double(position));
      std::optional<value> const inside = is_inside(element);
      if (best.name.empty()) {
        best = candidate, met = inside;
        found = inside ? select(e_.w, {broadcast(*inside), here, nowhere}) : here;
        continue;
      }
      value takes = is_as_great(candidate, best);
      if (met) takes = binary(e_.w, "or", {takes, broadcast(unary(e_.w, "not", *met))});
      if (inside) takes = binary(e_.w, "and", {takes, broadcast(*inside)});
      best = select(e_.w, {takes, candidate, best});
      found = select(e_.w, {takes, here, found});
      if (met) met = inside ? std::optional(binary(e_.w, "or", {*met, *inside})) : std::nullopt;
    }
    if (!met && is_whole()) e_.greatest.push_back({e_.m.operand(n_, 0), e_.m.result(n_)});
    return found;
  }

 private:
  /// A NaN is as great as any number, but no number is as great as a NaN.
  value is_as_great(value const& x, value const& y) {
    value const as_great = compare(e_.w, "GE", {x, y});
    if (!is_float(x.type.element)) return as_great;
    return binary(e_.w, "or", {as_great, compare(e_.w, "NE", {x, x})});
  }
  /// Whether this element of each window is an element of the tensor and not padding. It is empty if this holds for all
  /// windows.
  std::optional<value> is_inside(extents const& elements) {
    extents windows;
    for (windowed_dim const& d : places_) windows.push_back(to_.shape[at(d.at)]);
    std::optional<value> all;
    auto const require = [&](value const& along, std::size_t k) {
      value const inside = spread(e_.w, along, {static_cast<std::int64_t>(k)}, windows);
      all = all ? binary(e_.w, "and", {*all, inside}) : inside;
    };
    for (std::size_t k = 0; k < places_.size(); ++k) {
      windowed_dim const& d = places_[k];
      bool const begins = d.numbers.input(0, elements[k]) >= 0;
      bool const ends = d.numbers.input(d.whole_to - 1, elements[k]) < d.whole_from;
      if (begins && ends) continue;
      value const place = e_.positions(e_.m.result_value(n_), d.at, {"i64", {windows[k]}}, 0);
      value const element = binary(
          e_.w, "add", {scaled(e_.w, place, d.numbers.stride), like(e_.w, place, d.numbers.input(0, elements[k]))});
      if (!begins) require(compare(e_.w, "LE", {like(e_.w, place, 0), element}), k);
      if (!ends) require(compare(e_.w, "LT", {element, like(e_.w, place, d.whole_from)}), k);
    }
    return all;
  }
  value broadcast(value const& by_windows) {
    extents to;
    for (windowed_dim const& d : places_) to.push_back(d.at);
    return spread(e_.w, by_windows, to, to_.shape);
  }
};

}  // namespace meshtensor::hlo
