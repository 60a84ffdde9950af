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

/// Concatenates the numbers of all processes on every process. All processes call this, with equally many numbers.
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
  std::string end;              // where the bars end, if that is before the last step

  /// The index in `processes` of the process to which a rank belongs.
  std::size_t process_of(int rank) const {
    auto const found = std::ranges::find_if(
        processes, [rank](process const& p) { return std::ranges::find(p.ranks, rank) != p.ranks.end(); });
    return static_cast<std::size_t>(found - processes.begin());
  }
};

/// A process of a job in the form in which it tells the others about itself: host, ranks, and its clock when all met.
struct process_in_trace {
  static constexpr std::size_t host_size = sizeof(process_id::host);
  process_id id;
  double met;
  std::vector<int> ranks;

  std::vector<double> numbers(std::size_t most_ranks) const {
    std::vector<double> all(std::begin(id.host), std::end(id.host));
    all.insert(all.end(), {static_cast<double>(id.number), static_cast<double>(id.place >> 32), met});
    all.insert(all.end(), ranks.begin(), ranks.end());
    all.resize(host_size + 3 + most_ranks, -1);
    return all;
  }
  static process_in_trace of(std::vector<double> const& all) {
    process_in_trace p{};
    for (std::size_t i = 0; i + 1 < host_size; ++i) p.id.host[i] = static_cast<char>(all[i]);
    p.id.number = static_cast<std::int64_t>(all[host_size]);
    p.id.place = static_cast<std::uint64_t>(all[host_size + 1]);
    p.met = all[host_size + 2];
    for (std::size_t i = host_size + 3; i < all.size(); ++i)
      if (all[i] >= 0) p.ranks.push_back(static_cast<int>(all[i]));
    return p;
  }
};

/// For example, `ends in step 18 of 40 recorded steps, because …`, or an empty text if all bars were kept.
inline std::string end_of_trace(std::vector<timeline const*> const& held, agreement& greatest) {
  std::int64_t missing = 0;
  for (timeline const* t : held) missing = std::max(missing, t->steps() - t->whole_steps());
  missing = static_cast<std::int64_t>(greatest(static_cast<double>(missing)));
  if (missing == 0 || held.empty()) return "";
  std::int64_t const steps = held[0]->steps();
  return "ends in step " + std::to_string(steps - missing + 1) + " of " + std::to_string(steps) +
         " recorded steps, because it has at most " + std::to_string(held[0]->most_spans()) +
         " bars of each rank: record fewer steps";
}

/// All processes call this with their ranks, and with a timeline for each of them, or one for all in lockstep.
/// why: clocks of machines differ, so times count from a barrier. Processes leave it at different times. However,
/// processes on one machine share a clock, so there they count from the last one that left.
template <class = lazy>
trace_of_job trace_of_all(job_runner& j, std::vector<int> const& ranks, std::vector<timeline const*> const& held) {
  agreement greatest(j);
  greatest(0);
  process_in_trace const here{this_process(), static_cast<double>(timeline::now()), ranks};
  std::vector<double> mine;
  for (std::size_t k = 0; k < held.size(); ++k)
    for (timeline::span const& s : held[k]->spans())
      for (double x : {static_cast<double>(ranks[k]), static_cast<double>(s.node), static_cast<double>(s.begin),
                       static_cast<double>(s.end)})
        mine.push_back(x);
  auto const greatest_size = [&](std::size_t size) {
    return static_cast<std::size_t>(greatest(static_cast<double>(size)));
  };
  mine.resize(greatest_size(mine.size()), -1);  // rank -1 is padding
  std::vector<double> const about = here.numbers(greatest_size(ranks.size()));
  std::vector<double> const of_all = all_numbers(j, about), spans = all_numbers(j, mine);

  std::vector<process_in_trace> each;
  for (auto at = of_all.begin(); at != of_all.end(); at += std::ssize(about))
    each.push_back(process_in_trace::of({at, at + std::ssize(about)}));
  trace_of_job all;
  all.in_lockstep = held.size() < ranks.size();
  all.end = end_of_trace(held, greatest);
  double first = 0;
  for (std::size_t k = 0; k < each.size(); ++k) {
    all.processes.push_back({each[k].id.host, each[k].id.number, each[k].ranks});
    double met = each[k].met;
    for (process_in_trace const& o : each)
      if (o.id.place == each[k].id.place) met = std::max(met, o.met);
    for (std::size_t i = k * mine.size(); i < (k + 1) * mine.size(); i += 4) {
      if (spans[i] < 0) continue;
      all.bars.push_back({static_cast<int>(spans[i]), static_cast<node_id>(static_cast<int>(spans[i + 1])),
                          spans[i + 2] - met, spans[i + 3] - met});
      first = std::min(first, all.bars.back().begin);
    }
  }
  for (trace_bar& b : all.bars) b.begin -= first, b.end -= first;
  return all;
}

#if MESHTENSOR_COMPILED
extern template trace_of_job trace_of_all<lazy>(job_runner&, std::vector<int> const&,
                                                std::vector<timeline const*> const&);
#endif

}  // namespace meshtensor::detail
