// SPDX-License-Identifier: Apache-2.0
// Quotes text as JSON.
#pragma once

#include <string>
#include <string_view>

namespace meshtensor {

/// Quotes text in UTF-8 as JSON.
inline std::string json_text(std::string_view text) {
  std::string all = "\"";
  for (char const c : text) {
    constexpr char const* digits = "0123456789abcdef";
    auto const u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (all += '\\') += c;
    else if (u >= 0x20) all += c;
    else ((all += "\\u00") += digits[u >> 4]) += digits[u & 15];
  }
  return all + "\"";
}

}  // namespace meshtensor
