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

/// The updates that one entry counts, and the numbers that depend on them.
class counted_paths {
 public:
  counted_paths(module const& m, int entry) : rows_(static_cast<std::size_t>(m.number_count)) { find(m, entry); }

  /// The paths that the store counts.
  std::vector<std::string> const& labels() const { return labels_; }
  /// The number of updates that a call counts under `labels()[k]`.
  std::uint64_t updates_of_call(std::size_t k, dynamic_array<number_value> const& numbers) const {
    return steps_[k] < 0 ? 1 : static_cast<std::uint64_t>(numbers[static_cast<std::size_t>(steps_[k])].integer());
  }
  /// Calls `take` with each path, with whether a state of a loop or branch counts it and not the store, and with
  /// whether a number of the program depends on the count.
  template <class F>
  void each_path(F const& take) const {
    for (std::size_t k = 0; k < labels_.size(); ++k) take(labels_[k], false, is_in(uses_, k));
    for (std::size_t k = 0; k < in_states_.size(); ++k) take(in_states_[k], true, is_in(uses_of_states_, k));
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
  using uses = dynamic_array<std::pair<int, std::size_t>>;  // a row of the numbers, an index of a path

  void find(module const& m, int entry);
  static bool is_in(uses const& all, std::size_t path) {
    for (auto const& [row, k] : all)
      if (k == path) return true;
    return false;
  }

  std::size_t rows_;
  std::vector<std::string> labels_, in_states_;
  dynamic_array<std::int64_t> steps_;  // of each label, the row of the number of its updates in a call, -1 for 1
  uses uses_, uses_of_states_;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline void counted_paths::find(module const& m, int entry) {
  dynamic_array<path_id> known;
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind != primitive::write || n.region != entry) continue;
    counted_update const u = counting_of(n);
    if (u.under == no_id || std::ranges::find(known, u.under) != known.end()) continue;
    known.push_back(u.under);
    std::vector<std::string>& labels = u.in_state ? in_states_ : labels_;
    if (!u.in_state) steps_.push_back(u.steps == no_id ? -1 : std::int64_t{u.steps});
    for (int k = 0; k < m.number_count; ++k)
      if (number_row const& row = m.numbers[k]; (row.kind == number_row::updates && row.first == u.under) ||
                                                (row.kind == number_row::most_updates && row.first == u.optimizer))
        (u.in_state ? uses_of_states_ : uses_).emplace_back(k, labels.size());
    labels.push_back(path_text(m, u.under));
  }
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
