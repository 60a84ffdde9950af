// SPDX-License-Identifier: Apache-2.0
// Writes quantities and times with three digits and a metric prefix.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

namespace meshtensor::detail {

/// `1.23 M`: three digits and a metric prefix. A number of up to four digits is unchanged, with a blank.
inline std::string rounded(std::int64_t n) {
  if (n < 10000) return std::to_string(n) + " ";
  char const* letter = "kMGTPE";
  std::int64_t unit = 1000;
  for (; n / 1000 >= unit; unit *= 1000) ++letter;
  std::int64_t const scale = n / unit >= 100 ? 1 : n / unit >= 10 ? 10 : 100;
  std::int64_t const part = unit / scale, digits = n / part + (n % part >= part - n % part ? 1 : 0);
  if (digits == 1000) return rounded(digits * part);
  std::string r = std::to_string(digits / scale);
  if (scale > 1) r += "." + std::to_string(scale + digits % scale).substr(1);
  return r + " " + *letter;
}
}  // namespace meshtensor::detail

namespace meshtensor {

/// `1.50 MB`
inline std::string bytes_text(std::int64_t n) { return detail::rounded(n) + "B"; }

/// `12.3 ms`: three digits, of a time below 100 years.
inline std::string seconds_text(double seconds) {
  constexpr std::pair<double, char const*> units[] = {{1e-9, " ns"}, {1e-6, " µs"}, {1e-3, " ms"}, {1, " s"}};
  std::size_t at = 0;
  while (at < 3 && seconds >= 999.5 * units[at].first) ++at;
  double const n = seconds / units[at].first;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", n < 9.995 ? 2 : n < 99.95 ? 1 : 0, n);
  return text + std::string(units[at].second);
}

}  // namespace meshtensor
