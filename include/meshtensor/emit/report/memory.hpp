// SPDX-License-Identifier: Apache-2.0
// The part of a report about memory: the size of each use, and the values in memory when it is fullest.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/emit/report/amounts.hpp"
#include "meshtensor/graph/owner.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor::detail {

/// The values that are live when the arena is fullest.
inline std::vector<value_id> held_at_fullest(module const& m, plan const& p) {
  auto const again = std::make_unique<plan>();
  again->numbers = p.numbers, again->steps = p.steps;
  std::unique_ptr<planner> const plan_again(new planner(m, *again));
  int entry = 0;
  while (m.regions[entry].kind != region_kind::entry || m.regions[entry].removed) ++entry;
  plan_again->run(entry);
  int time = 0;
  while (time < max_nodes - 1 && plan_again->event_node[time] != p.fullest) ++time;
  liveness const& life = plan_again->life;
  std::vector<value_id> all;
  for (int v = 0; v < m.value_count; ++v)
    if (p.root[v] == v && is_in_arena(p.where[v]) && life.begin[v] <= time && time <= life.end[v])
      all.push_back(static_cast<value_id>(v));
  return all;
}

class memory_of_report : speller {
 public:
  memory_of_report(module const& m, plan const& p) : speller(m), p_(p) {}

  std::string text() const {
    std::string r = "\nmemory: " + bytes_text(p_.arena_bytes + p_.variable_bytes + p_.input_bytes) +
                    " a rank: " + bytes_text(p_.arena_bytes) + " for what a step makes, " +
                    bytes_text(p_.variable_bytes) + " for parameters and state, " + bytes_text(p_.input_bytes) +
                    " for inputs\n";
    if (p_.arena_bytes == 0) return r;
    r += "fullest at " + doing(m_.nodes[p_.fullest]) + ":\n";
    struct held {
      std::string what;
      std::int64_t bytes, count;
    };
    std::vector<held> all;
    for (value_id v : held_at_fullest(m_, p_)) {
      std::string const what = type(v) + "  " + doing(node_computing(m_, v));
      auto const same = std::find_if(all.begin(), all.end(), [&](held const& h) { return h.what == what; });
      std::int64_t const size = p_.numbers.local_bytes(m_.values[v]) * (p_.where[v] == place::double_buffer ? 2 : 1);
      if (same == all.end()) all.push_back({what, size, 1});
      else same->bytes += size, ++same->count;
    }
    table t;
    std::int64_t rest = 0;
    std::size_t lines = 0;
    for (auto const& [_, place] : largest_first(all)) {
      held const& h = all[place];
      if (lines++ < shown) t.add({right_aligned(bytes_text(h.bytes)), h.what + times_text(h.count)});
      else rest += h.bytes;
    }
    if (all.size() > shown)
      t.add({right_aligned(bytes_text(rest)), "in " + std::to_string(all.size() - shown) + " smaller groups"});
    return r + t.text();
  }

 private:
  std::string doing(node const& n) const {
    std::string const what = n.kind == primitive::composite  ? label(name_of(n))
                             : n.kind == primitive::argument ? "carry"
                                                             : text_of(n);
    return what + ", " + origin(n);
  }

  static constexpr std::size_t shown = 16;
  plan const& p_;
};

}  // namespace meshtensor::detail
