// SPDX-License-Identifier: Apache-2.0
// Finds the chain of operations that takes longest. Each of them needs the one before, so no order makes a step
// shorter.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "meshtensor/emit/page_rates.hpp"
#include "meshtensor/graph/spell.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/plan_memory.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The times of a chain follow from the given rates. An operation takes the longer of the times of its arithmetic and
/// of its bytes. A collective takes the time of its messages and of the bytes received, over the slowest of its axes.
/// The iterations of a loop run one after the other.
class longest_chain : speller {
 public:
  struct link {
    std::string what, where;
    double seconds;  // of all its runs in a step
  };

  longest_chain(module const& m, plan const& p, known_rates const& machine)
      : speller(m), p_(p), best_(machine.processor()), runs_(run_counts_of(m, p.numbers)) {
    for (int a = 0; a < m.axis_count; ++a) links_of_axes_.push_back(machine.of_axis(m.names[m.axes[a].label]));
    int entry = 0;
    while (m.regions[entry].kind != region_kind::entry || m.regions[entry].removed) ++entry;
    seconds_ = walk(entry, true);
  }

  double seconds() const { return seconds_; }
  /// The links of the chain. Neighbouring operations of one scope are one link.
  std::vector<link> const& links() const { return links_; }

 private:
  /// The seconds of the longest chain in a region. If `keeps`, the chain's links are added to `links_`.
  double walk(int region, bool keeps) {
    std::vector<double> until(static_cast<std::size_t>(m_.node_count));
    std::vector<int> before(static_cast<std::size_t>(m_.node_count), -1);
    int last = -1;
    for (int i = 0; i < p_.steps.count[region]; ++i) {
      int const at = p_.steps.nodes[p_.steps.first[region] + i];
      node const& n = m_.nodes[at];
      double most = 0;
      for (int k = 0; k < n.operands.count; ++k) {
        int const maker = m_.values[m_.operand(n, k)].node;
        if (maker >= m_.node_count || m_.nodes[maker].region != n.region) continue;
        if (until[static_cast<std::size_t>(maker)] > most)
          most = until[static_cast<std::size_t>(maker)], before[static_cast<std::size_t>(at)] = maker;
      }
      until[static_cast<std::size_t>(at)] = most + seconds_of(n);
      if (last < 0 || until[static_cast<std::size_t>(at)] > until[static_cast<std::size_t>(last)]) last = at;
    }
    double const all = last < 0 ? 0 : until[static_cast<std::size_t>(last)];
    if (!keeps) return all;
    std::vector<int> chain;
    for (int at = last; at >= 0; at = before[static_cast<std::size_t>(at)]) chain.push_back(at);
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
      node const& n = m_.nodes[*at];
      if (n.kind == primitive::repeat) walk(m_.region_of(n, 0), true);
      else add(n, seconds_of(n) * static_cast<double>(runs_.of[n.region]));
    }
    return all;
  }
  void add(node const& n, double seconds) {
    if (seconds == 0) return;
    std::string const scope = path(n.path);
    std::string const what = n.kind == primitive::composite ? label(name_of(n)) : text_of(n);
    std::string const where = scope.empty() ? origin(n) : scope;
    if (!links_.empty() && links_.back().where == where && !is_collective(n.kind)) {
      links_.back().seconds += seconds;
      if (links_.back().what.find(what) == std::string::npos && links_.back().what.size() < 60)
        links_.back().what += ", " + what;
      return;
    }
    links_.push_back({what, where, seconds});
  }
  /// The seconds of a node in one run of its region.
  double seconds_of(node const& n) {
    if (is_collective(n.kind)) return seconds_of_collective(n);
    if (n.kind == primitive::repeat) {
      auto const body = m_.region_of(n, 0);
      auto const runs = static_cast<double>(std::max<std::int64_t>(1, runs_.of[n.region]));
      return walk(body, false) * static_cast<double>(runs_.of[body]) / runs;
    }
    return std::max(static_cast<double>(flops_within(m_, p_.numbers, n)) / best_.flops,
                    static_cast<double>(moves_nothing(n) ? 0 : bytes_touched(m_, p_.numbers, n)) / best_.bytes);
  }
  double seconds_of_collective(node const& n) const {
    auto const members = static_cast<int>(cost_of_collective(m_, p_.numbers, n).members);
    std::int64_t const runs = std::max<std::int64_t>(1, runs_.of[n.region]);  // a mean: slices of a loop differ
    auto const bytes = static_cast<double>(bytes_in_step(m_, p_.numbers, n, runs)) / static_cast<double>(runs);
    bool const in_steps = goes_in_steps(p_.numbers.local_bytes(m_.operand_value(n, 0)));
    int const messages = messages_in_turn(n.kind == primitive::all_reduce, in_steps, members);
    double most = 0;
    for (std::size_t a = 0; a < links_of_axes_.size() && members > 1; ++a)
      if ((axes_of_collective(n) >> a & 1u) != 0 && p_.numbers.axis[a] > 1)
        most = std::max(most, messages * links_of_axes_[a].latency + bytes / links_of_axes_[a].bytes_per_second);
    return most;
  }
  static bool moves_nothing(node const& n) {
    return n.kind == primitive::input || n.kind == primitive::read || n.kind == primitive::argument ||
           n.kind == primitive::wait || n.kind == primitive::constant;
  }

  plan const& p_;
  rates best_;
  std::vector<meshtensor::link> links_of_axes_;
  run_counts runs_;
  std::vector<link> links_;
  double seconds_ = 0;
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
