// SPDX-License-Identifier: Apache-2.0
// Reads the sizes of mesh axes from a text, as options and environment variables have them.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/mesh/mesh.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The axes of `data=2,model=4`; none of an empty text. `from` says in the error where the text stands: `--mesh`.
///
/// errors  S01 it is not written so, or has an axis twice
inline std::vector<axis_extent> read_axes(std::string_view text, std::string_view from) {
  std::vector<axis_extent> all;
  error const refused("S01", {from, " has '", text, "': write an axis and its number of ranks, as in data=2,model=4"});
  while (!text.empty()) {
    std::string_view const part = text.substr(0, text.find(','));
    text.remove_prefix(part.size() == text.size() ? part.size() : part.size() + 1);
    std::size_t const equals = part.find('=');
    if (equals == 0 || equals == part.npos || equals > name::capacity) throw refused;
    std::string_view const number = part.substr(equals + 1);
    std::int64_t extent = 0;
    auto const [end, problem] = std::from_chars(number.data(), number.data() + number.size(), extent);
    name const label = name::of(part.substr(0, equals));
    if (problem != std::errc() || end != number.data() + number.size() || extent < 1) throw refused;
    for (axis_extent const& other : all)
      if (other.label == label)
        throw error("S01", {from, " gives the axis '", label, "' twice: leave one of them out"});
    all.push_back({label, extent});
  }
  return all;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
