// SPDX-License-Identifier: Apache-2.0
// Counts the steps of each of a store's programs, and the updates that their optimizers and averages have made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/array/interpret.hpp"
#include "meshtensor/array/numbers.hpp"
#include "meshtensor/base/dynamic_array.hpp"

namespace meshtensor {

/// Counts by name. Steps are counted by the programs' full names, and updates by path. An optimizer's path is its scope
/// and the parameter, for example `optimizer/decoder/query`. An average's path is that of its copy.
using counts_by_name = std::map<std::string, std::uint64_t>;
struct program_counts {
  counts_by_name steps, updates;
};

/// A path whose updates a program counts: in the store, or in a state of a loop or branch.
struct counted_path {
  std::string label;
  bool in_state;
  bool is_used;  // whether a number of the program depends on the count
};

/// The updates that one entry counts, and the numbers that depend on them.
class counted_paths {
 public:
  counted_paths(module const& m, int entry) : rows_(static_cast<std::size_t>(m.number_count)) { find(m, entry); }

  /// The paths that the store counts, and all paths.
  std::vector<std::string> const& labels() const { return labels_; }
  std::vector<counted_path> const& paths() const { return paths_; }
  /// The number of updates that a call counts under `labels()[k]`.
  std::uint64_t updates_of_call(std::size_t k, dynamic_array<number_value> const& numbers) const {
    return steps_[k] == no_id ? 1 : static_cast<std::uint64_t>(numbers[steps_[k]].integer());
  }

  /// Sets the numbers of a step that depend on counts of updates. `of(k)` is the count of `labels()[k]`.
  template <class F>
  void give(settings& to, F const& of) const {
    to.updates.assign(rows_, 0);
    for (auto const& [row, k] : uses_) {
      std::uint64_t& n = to.updates[static_cast<std::size_t>(row)];
      n = std::max(n, static_cast<std::uint64_t>(of(k)));
    }
  }

 private:
  void find(module const& m, int entry);

  std::size_t rows_;
  std::vector<std::string> labels_;
  std::vector<counted_path> paths_;
  dynamic_array<number_id> steps_;                   // of each label, the row of its updates in a call, no_id for 1
  dynamic_array<std::pair<int, std::size_t>> uses_;  // a row of the numbers, an index of labels_
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline void counted_paths::find(module const& m, int entry) {
  dynamic_array<counted_update> all;
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind != primitive::write || n.region != entry || counting_of(n).under == no_id) continue;
    if (std::ranges::find(all, counting_of(n).under, &counted_update::under) == all.end())
      all.push_back(counting_of(n));
  }
  for (counted_update const& u : all) {
    paths_.push_back({path_text(m, u.under), u.in_state, false});
    if (!u.in_state) labels_.push_back(paths_.back().label), steps_.push_back(u.steps);
    for (int i = 0; i < m.number_count; ++i) {
      number_row const& n = m.numbers[i];
      if (!(n.kind == number_row::updates && n.first == u.under) &&
          !(n.kind == number_row::most_updates && n.first == u.optimizer))
        continue;
      paths_.back().is_used = true;
      if (!u.in_state) uses_.emplace_back(i, labels_.size() - 1);
    }
  }
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
