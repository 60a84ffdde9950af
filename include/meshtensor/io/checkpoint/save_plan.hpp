// SPDX-License-Identifier: Apache-2.0
// Plans which rank writes which block of a checkpoint. It is one of the ranks that hold the block, chosen so that all
// write about as much.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "meshtensor/io/saved_value.hpp"
#include "meshtensor/run/store.hpp"

namespace meshtensor::io {

/// The plan of a save. It is the same on all processes.
struct save_plan {
  std::size_t files = 0;  // one for each rank
  std::map<std::string, saved_value> values;
};

/// The grid into which ranks cut a value. For each dim, it lists the parts that they hold, in order, without empty
/// parts.
using grid_of_parts = std::vector<std::vector<interval>>;

inline std::vector<interval> parts_of(stored const& s, int dim) {
  std::vector<interval> all;
  for (std::int64_t rank = 0; rank < s.mesh.size(); ++rank) all.push_back(s.part(dim, rank));
  std::ranges::sort(all, {}, &interval::begin);
  std::erase_if(all, [](interval const& part) { return part.count == 0; });
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

inline grid_of_parts grid_of(stored const& s) {
  grid_of_parts grid;
  for (int i = 0; i < static_cast<int>(s.dims.size()); ++i) grid.push_back(parts_of(s, i));
  return grid;
}

/// The row-major index of the block of a value that a rank holds, or nothing if its block is empty.
inline std::optional<std::size_t> block_held(stored const& s, grid_of_parts const& grid, std::int64_t rank) {
  std::size_t block = 0;
  for (int i = 0; i < static_cast<int>(s.dims.size()); ++i) {
    std::vector<interval> const& parts = grid[static_cast<std::size_t>(i)];
    auto const at = std::ranges::find(parts, s.part(i, rank));
    if (at == parts.end()) return {};
    block = block * parts.size() + static_cast<std::size_t>(at - parts.begin());
  }
  return block;
}

/// Plans the values that `only` selects, or all of them if it is empty.
///
/// errors  C12 `only` selects no value; C15 there is nothing to save; C16 this process holds only a part and no other
///         process has the rest
inline save_plan plan_save(store& weights, std::function<bool(std::string const&)> const& only = {}) {
  save_plan plan;
  std::int64_t ranks = 0;
  for (auto const& [label, s] : weights.values()) {
    if (only && !only(label)) continue;
    ranks = std::max(ranks, s.mesh.size());
    if (weights.runner().size() < 2 && static_cast<std::int64_t>(s.blocks.size()) != s.mesh.size())
      throw error("C16", {"a checkpoint cannot be written: '", label, "' is on ", s.mesh.size(),
                          " ranks, of which there are ", s.blocks.size()});
  }
  if (ranks == 0 && !weights.values().empty())
    throw error("C12", {"`only` leaves no value to save, of ", weights.values().size(), ": the store has '",
                        weights.values().begin()->first, "'"});
  if (ranks == 0) throw error("C15", "a checkpoint cannot be written: the store has no values yet");
  plan.files = static_cast<std::size_t>(ranks);

  std::vector<std::int64_t> load(plan.files);  // bytes that each rank writes
  for (auto const& [label, s] : weights.values()) {
    if (only && !only(label)) continue;
    saved_value v;
    v.stored = storage_of(s.type);
    v.replica_dim = s.replica_dim, v.merge = s.merge;
    if (s.replica_dim >= 0) v.shared = s.shared;
    grid_of_parts const grid = grid_of(s);
    std::size_t blocks = 1;
    for (std::size_t i = 0; i < s.dims.size(); ++i) {
      std::vector<std::int64_t> lengths;
      for (interval const& part : grid[i]) lengths.push_back(part.count);
      blocks *= lengths.size();
      v.dims.push_back({s.dims[i], s.axes[i], std::move(lengths)});
    }
    v.files.assign(blocks, -1);
    for (int r = 0; r < static_cast<int>(s.mesh.size()); ++r) {
      auto const block = block_held(s, grid, r);
      if (!block) continue;
      int& writer = v.files[*block];
      if (writer < 0 || load[static_cast<std::size_t>(r)] < load[static_cast<std::size_t>(writer)]) writer = r;
    }
    for (std::size_t k = 0; k < blocks; ++k) load[static_cast<std::size_t>(v.files[k])] += v.bytes_of(v.block(k));
    plan.values.emplace(label, std::move(v));
  }
  return plan;
}

}  // namespace meshtensor::io
