// SPDX-License-Identifier: Apache-2.0
// Reads the sizes of mesh axes from a text, such as the value of an option or of an environment variable.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/mesh/mesh.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// Calls `take` with each axis of a text such as `data=2,model=4`. `from` names the source of the text in the error,
/// for example `--mesh`.
///
/// errors  S01 the axes make more than `max_ranks` ranks; S27 the text does not have this form
inline void read_axes(std::string_view text, std::string_view from, function_ref<void(axis_extent)> take) {
  std::int64_t ranks = 1;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view const part = rest.substr(0, rest.find(','));
    rest.remove_prefix(part.size() == rest.size() ? part.size() : part.size() + 1);
    std::size_t const equals = std::min(part.find('='), part.size());
    std::int64_t extent = 0;
    auto const [end, problem] =
        std::from_chars(part.data() + std::min(equals + 1, part.size()), part.data() + part.size(), extent);
    bool const is_number = problem == std::errc() && end == part.data() + part.size() && extent > 0;
    if (equals == 0 || equals > name::capacity || !is_number)
      throw error("S27", {from, " has '", text, "': write an axis and its number of ranks, as in data=2,model=4"});
    if (extent > max_ranks / ranks) throw error("S01", {from, " has '", text, "': a mesh has at most 1048576 ranks"});
    ranks *= extent;
    take({name::of(part.substr(0, equals)), extent});
  }
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
