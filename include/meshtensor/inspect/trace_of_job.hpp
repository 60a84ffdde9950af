// SPDX-License-Identifier: Apache-2.0
// Collects the recorded steps of all ranks of a job, on one time axis.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "meshtensor/base/process.hpp"
#include "meshtensor/inspect/trace_arrows.hpp"
#include "meshtensor/job/agree.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor::detail {

/// Concatenates the numbers of all processes on every process. Collective: each brings the same number of them.
inline std::vector<double> all_numbers(job_runner& j, std::vector<double> const& mine) {
  std::vector<double> everything(mine.size() * static_cast<std::size_t>(std::max(1, j.size())));
  on_all_ranks(j, collective::all_gather, f64, std::ssize(mine), "recorded times")(mine.data(), everything.data());
  return everything;
}

/// The recorded bars of all ranks, and the processes that have run them.
struct trace_of_job {
  struct process {
    std::string host;
    std::int64_t number;
    std::vector<int> ranks;
  };
  std::vector<process> processes;
  std::vector<trace_bar> bars;  // times count from the first bar
  bool in_lockstep = false;     // all ranks take turns, and have one row of bars

  /// The row of a rank, which is the process that it belongs to.
  std::size_t process_of(int rank) const {
    auto const found = std::ranges::find_if(
        processes, [rank](process const& p) { return std::ranges::find(p.ranks, rank) != p.ranks.end(); });
    return static_cast<std::size_t>(found - processes.begin());
  }
};

/// Collective: each process brings its ranks, and a timeline for each of them, or one for all in lockstep.
template <class = lazy>
trace_of_job trace_of_all(job_runner& j, std::vector<int> const& ranks, std::vector<timeline const*> const& held) {
  agreement greatest(j);
  greatest(0);  // a barrier: clocks differ between machines, so all times count from here
  auto const met = static_cast<double>(timeline::now());
  std::vector<double> mine;
  for (std::size_t k = 0; k < held.size(); ++k)
    for (timeline::span const& s : held[k]->spans())
      for (double x : {static_cast<double>(ranks[k]), static_cast<double>(s.node), static_cast<double>(s.begin) - met,
                       static_cast<double>(s.end) - met})
        mine.push_back(x);
  mine.resize(static_cast<std::size_t>(greatest(static_cast<double>(mine.size()))), -1);  // rank -1: padding

  trace_of_job all;
  all.in_lockstep = held.size() < ranks.size();
  double first = 0;
  std::vector<double> const numbers = all_numbers(j, mine);
  for (std::size_t i = 0; i < numbers.size(); i += 4) {
    if (numbers[i] < 0) continue;
    all.bars.push_back({static_cast<int>(numbers[i]), static_cast<node_id>(static_cast<int>(numbers[i + 1])),
                        numbers[i + 2], numbers[i + 3]});
    first = std::min(first, numbers[i + 2]);
  }
  for (trace_bar& b : all.bars) b.begin -= first, b.end -= first;

  process_id const here = this_process();
  std::vector<double> about(std::begin(here.host), std::end(here.host));
  about.push_back(static_cast<double>(here.number));
  std::size_t const size = about.size(), most = static_cast<std::size_t>(greatest(static_cast<double>(ranks.size())));
  about.insert(about.end(), ranks.begin(), ranks.end());
  about.resize(size + most, -1);
  std::vector<double> const of_all = all_numbers(j, about);
  for (auto at = of_all.begin(); at != of_all.end(); at += static_cast<std::ptrdiff_t>(about.size())) {
    trace_of_job::process p{"", static_cast<std::int64_t>(at[static_cast<std::ptrdiff_t>(size) - 1]), {}};
    for (std::size_t i = 0; i + 1 < size && at[static_cast<std::ptrdiff_t>(i)] != 0; ++i)
      p.host += static_cast<char>(at[static_cast<std::ptrdiff_t>(i)]);
    for (std::size_t i = size; i < about.size(); ++i)
      if (int const rank = static_cast<int>(at[static_cast<std::ptrdiff_t>(i)]); rank >= 0) p.ranks.push_back(rank);
    all.processes.push_back(p);
  }
  return all;
}

#if MESHTENSOR_COMPILED
extern template trace_of_job trace_of_all<lazy>(job_runner&, std::vector<int> const&,
                                                std::vector<timeline const*> const&);
#endif

}  // namespace meshtensor::detail
