// SPDX-License-Identifier: Apache-2.0
// The colours of ranks in a drawing, and their legend.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/mesh/mesh.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The colour of a part that more ranks hold than `most_colours_of_one`.
inline constexpr char const* colour_of_many = "#c4ccd4";
inline constexpr std::size_t most_colours_of_one = 8;

/// The colour of a rank. Ranks along the first axis differ in hue, and along the others in brightness.
inline std::string colour_of_rank(mesh_shape const& mesh, std::int64_t rank) {
  std::int64_t const first = mesh.count == 0 ? 1 : mesh.axes[0].extent;
  std::int64_t const rest = std::max<std::int64_t>(mesh.size() / std::max<std::int64_t>(first, 1), 1);
  bool const by_first = mesh.count > 1 && first > 1 && rest > 1;
  std::int64_t const hues = by_first ? first : mesh.size();
  std::int64_t const hue = by_first ? mesh.coordinate(rank, 0) : rank, shade = by_first ? rank % rest : 0;
  std::int64_t const angle = (205 + 360 * hue / std::max<std::int64_t>(hues, 1)) % 360;
  std::int64_t const light = 84 - 24 * shade / std::max<std::int64_t>(rest - 1, 1);
  return "hsl(" + std::to_string(angle) + ",62%," + std::to_string(light) + "%)";
}

struct legend_entry {
  std::string colour, text;
};
/// The colours of the ranks, as many as there is room for. An entry without a colour says how many ranks are left
/// out.
inline std::vector<legend_entry> legend_of_ranks(mesh_shape const& mesh) {
  std::vector<legend_entry> all;
  std::int64_t const shown = std::min<std::int64_t>(mesh.size(), 12);
  for (std::int64_t rank = 0; rank < shown; ++rank)
    all.push_back({colour_of_rank(mesh, rank), "rank " + std::to_string(rank)});
  if (shown < mesh.size()) all.push_back({"", "and " + std::to_string(mesh.size() - shown) + " more"});
  if (mesh.size() > static_cast<std::int64_t>(most_colours_of_one))
    all.push_back({colour_of_many, "more than " + std::to_string(most_colours_of_one) + " ranks hold it"});
  return all;
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
