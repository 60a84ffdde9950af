// SPDX-License-Identifier: Apache-2.0
// Writes quantities with three digits and a metric prefix.
#pragma once

#include <cstdint>
#include <string>

namespace meshtensor::detail {

/// `1.23 M`: three digits and a metric prefix; up to four digits unchanged, with a blank.
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

}  // namespace meshtensor
