// SPDX-License-Identifier: Apache-2.0
// The part of a report about collectives: the bytes that a rank receives by each, and the line that caused it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "meshtensor/emit/report/amounts.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor::detail {

class collectives_of_report : speller {
 public:
  collectives_of_report(module const& m, plan const& p) : speller(m), p_(p) {}

  /// All collectives of one kind over the same axes that one line of the user causes.
  struct line {
    std::string kind, over, where;
    std::int64_t runs, bytes;  // in a step
    bool at_most;              // true in a branch and in a loop that may end early
  };
  std::vector<line> lines() const {
    std::vector<line> all;
    run_counts const runs = run_counts_of(m_, p_.numbers);
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      if (!is_collective(n.kind) || runs.of[n.region] == 0) continue;
      if (cost_of_collective(m_, p_.numbers, n).members < 2) continue;
      std::string kind = text_of(n.kind);
      if (n.kind == primitive::all_reduce || n.kind == primitive::reduce_scatter)
        kind += std::string(" ") + text_of(static_cast<reduction>(n.function));
      line const one{kind,
                     axes(axes_of_collective(n)),
                     origin(n),
                     runs.of[n.region],
                     bytes_in_step(m_, p_.numbers, n, runs.of[n.region]),
                     runs.at_most[n.region]};
      auto const same = std::find_if(all.begin(), all.end(), [&](line const& l) {
        return l.kind == one.kind && l.over == one.over && l.where == one.where && l.at_most == one.at_most;
      });
      if (same == all.end()) all.push_back(one);
      else same->runs = saturated_sum(same->runs, one.runs), same->bytes = saturated_sum(same->bytes, one.bytes);
    }
    return all;
  }

  std::string text() const {
    std::vector<line> const found = lines();
    bool const is_limit = std::ranges::any_of(found, &line::at_most);
    step_traffic const all = traffic_of(m_, p_);
    std::string r = "\ncommunication: a rank receives " + std::string(limit_text(is_limit)) + bytes_text(all.bytes) +
                    " in " + limit_text(is_limit) + std::to_string(all.collectives()) + " collectives a step";
    if (all.messages != all.collectives()) r += ", small ones together: " + std::to_string(all.messages);
    r += "\n";
    table t;
    for (auto const& [_, place] : largest_first(found)) {
      line const& l = found[place];
      t.add({right_aligned(bytes_text(l.bytes)), l.kind, "over " + l.over, right_aligned(times_text(l.runs, l.at_most)),
             l.where});
    }
    return r + t.text();
  }

 private:
  plan const& p_;
};

}  // namespace meshtensor::detail
