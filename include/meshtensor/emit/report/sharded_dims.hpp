// SPDX-License-Identifier: Apache-2.0
// Says a layout in one line, as a plan carries it out.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "meshtensor/emit/report/written_dim.hpp"
#include "meshtensor/mesh/mesh.hpp"

namespace meshtensor::detail {

/// `batch over data, hidden over model`. If tensors shard a dim over different axes, each way is named once:
/// `hidden over model or data`. The dims stand in the order of the program. Axes with one rank count for nothing.
inline std::string sharded_dims(module const& m, mesh_shape const& mesh) {
  speller const names(m);
  std::vector<std::vector<std::string>> ways(static_cast<std::size_t>(m.dim_count));
  for (int v = 0; v < m.value_count; ++v) {
    value const& x = m.values[v];
    for (int i = 0; i < x.dims.count; ++i) {
      std::string way;
      for (int k = 0; k < x.layout.axes_of(i); ++k)
        if (int const a = x.layout.axis_at(i, k); mesh.axes[a].extent > 1)
          way += (way.empty() ? "" : " and ") + mesh.axes[a].label.text();
      auto& known = ways[written_dim(m, x.dims.at[i])];
      if (!way.empty() && std::ranges::find(known, way) == known.end()) known.push_back(way);
    }
  }
  std::string text;
  for (int d = 0; d < m.dim_count; ++d)
    for (std::string const& way : ways[static_cast<std::size_t>(d)])
      text += &way == ways[static_cast<std::size_t>(d)].data()
                  ? (text.empty() ? "" : ", ") + names.dim(d) + " over " + way
                  : " or " + way;
  return text.empty() ? "every rank holds all of every tensor" : text;
}

}  // namespace meshtensor::detail
