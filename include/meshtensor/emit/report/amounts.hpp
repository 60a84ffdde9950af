// SPDX-License-Identifier: Apache-2.0
// Amounts in the lines of a report: ratios, bytes, counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/quantity.hpp"
#include "meshtensor/emit/table.hpp"

namespace meshtensor::detail {

/// `1.03`
inline std::string ratio(double x) {
  auto const hundredths = static_cast<std::int64_t>(x * 100 + 0.5);
  return std::to_string(hundredths / 100) + "." + std::to_string(100 + hundredths % 100).substr(1);
}
/// `20 Mflop`, `512 elements`
inline std::string quantity(std::int64_t n, char const* of) {
  std::string const r = rounded(n);
  return r + (r.back() == ' ' ? "" : " ") + of;
}
/// A cell whose column is aligned on the right, because the cell begins with a space.
inline std::string right_aligned(std::string const& s) { return " " + s; }
/// ` x3` or ` at most x3`. For 1, the text is empty or ` at most once`.
inline std::string times_text(std::int64_t n, bool at_most = false) {
  std::string const limit = at_most ? " at most" : "";
  return n == 1 ? limit + (at_most ? " once" : "") : limit + " x" + std::to_string(n);
}
/// The words before an amount that may be less.
inline char const* limit_text(bool at_most) { return at_most ? "at most " : ""; }

/// The indices of lines. Lines with more bytes come first, and equal ones stay in their order.
template <class Lines>
auto largest_first(Lines const& all) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;  // sort key, index
  for (std::size_t i = 0; i < all.size(); ++i) order.emplace_back(-all[i].bytes, i);
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace meshtensor::detail
