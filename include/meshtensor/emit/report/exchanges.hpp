// SPDX-License-Identifier: Apache-2.0
// The part of a report about collectives: what a processor receives by each, and the line that caused it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "meshtensor/emit/report/amounts.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor::detail {

class exchanges_of_report : speller {
 public:
  exchanges_of_report(module const& m, plan const& p) : speller(m), p_(p) {}

  std::string text() const {
    std::vector<line_of_exchange> lines;
    run_counts const runs = run_counts_of(m_, p_.numbers);
    bool is_limit = false;  // of a loop that may end early, or a branch
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      if (!is_collective(n.kind) || runs.of[n.region] == 0) continue;
      planned_exchange const e = exchange_of(m_, p_.numbers, n);
      if (e.members < 2) continue;
      std::string kind = text_of(n.kind);
      if (n.kind == primitive::all_reduce || n.kind == primitive::reduce_scatter)
        kind += std::string(" ") + text_of(static_cast<reduction>(n.function));
      line_of_exchange const one{kind,
                                 axes(axes_of_collective(n)),
                                 origin(n),
                                 runs.of[n.region],
                                 bytes_in_step(m_, p_.numbers, n, runs.of[n.region]),
                                 runs.at_most[n.region]};
      is_limit = is_limit || one.at_most;
      auto const same = std::find_if(lines.begin(), lines.end(), [&](auto const& l) {
        return l.kind == one.kind && l.over == one.over && l.where == one.where && l.at_most == one.at_most;
      });
      if (same == lines.end()) lines.push_back(one);
      else same->runs = saturated_sum(same->runs, one.runs), same->bytes = saturated_sum(same->bytes, one.bytes);
    }
    exchanged const all = traffic_of(m_, p_);
    std::string r = "\ncommunication: a processor receives " + std::string(limit_text(is_limit)) +
                    bytes_text(all.bytes) + " in " + limit_text(is_limit) + std::to_string(all.collectives()) +
                    " collectives a step";
    if (all.exchanges != all.collectives()) r += ", small ones together: " + std::to_string(all.exchanges);
    r += "\n";
    table t;
    for (auto const& [_, place] : largest_first(lines)) {
      line_of_exchange const& l = lines[place];
      t.add({right_aligned(bytes_text(l.bytes)), l.kind, "over " + l.over, right_aligned(times_text(l.runs, l.at_most)),
             l.where});
    }
    return r + t.text();
  }

 private:
  struct line_of_exchange {
    std::string kind, over, where;
    std::int64_t runs, bytes;
    bool at_most;
  };

  plan const& p_;
};

}  // namespace meshtensor::detail
