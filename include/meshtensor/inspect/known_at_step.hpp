// SPDX-License-Identifier: Apache-2.0
// Gives the clocks of ranks the messages and the branches of a step, if they follow from its number alone.
#pragma once

#include <algorithm>
#include <vector>

#include "meshtensor/inspect/known_values.hpp"
#include "meshtensor/inspect/rank_clocks.hpp"

namespace meshtensor::detail {

/// The sources of permutes and the numbers of iterations that follow from the number of a step alone.
class known_at_step {
 public:
  known_at_step(module const& m, plan const& p, timed_list const& list) : values_(m, p.numbers), list_(list) {
    std::vector<timed_instruction> const& all = list.instructions();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].runs != no_id && values_.find(all[i].runs)) loops_.push_back(i);
    for (std::size_t i = 0; i < list.messages().size(); ++i) {
      planned_collective const& c = *list.messages()[i].what;
      if (c.call.kind == collective::move && c.moves.by_sources && values_.find(c.counts)) permutes_.push_back(i);
    }
  }

  void set(std::int64_t step, rank_clocks& clocks) {
    values_.evaluate(step);
    set_runs(clocks);
    for (std::size_t const i : permutes_) {
      block const& b = values_[list_.messages()[i].what->counts];
      sources_.clear();
      for (std::int64_t row = 0; row < b.size(); ++row) sources_.push_back(static_cast<std::int64_t>(b.number_at(row)));
      clocks.links().set_sources(i, sources_);
    }
  }
  /// Gives other clocks the branches and iterations of the same step.
  void set_runs(rank_clocks& clocks) {
    for (std::size_t const i : loops_) {
      timed_instruction const& l = list_.instructions()[i];
      auto const runs = std::max<std::int64_t>(0, static_cast<std::int64_t>(values_[l.runs].number_at(0)));
      clocks.set_runs(i, runs == 0 || l.trips == 1 || l.stays ? runs : -1);
    }
  }

 private:
  known_values values_;
  timed_list const& list_;
  std::vector<std::size_t> loops_, permutes_;
  std::vector<std::int64_t> sources_;
};

}  // namespace meshtensor::detail
