// SPDX-License-Identifier: Apache-2.0
// Runs a plan with collectives that exchange their data at each legal moment.
#pragma once

#include <string>

#include "meshtensor/job/job.hpp"
#include "meshtensor/pass/overlap_collectives.hpp"
#include "meshtensor/pass/verify/verify_plan.hpp"

namespace meshtensor_test {

/// Lockstep jobs, one for each timing of collectives.
inline std::vector<meshtensor::job> const& jobs_of_each_timing() {
  static auto const all = [] {
    std::vector<meshtensor::job> jobs;
    for (auto const timing : meshtensor::collective_timings) jobs.push_back(meshtensor::job::in_lockstep(timing));
    return jobs;
  }();
  return all;
}

/// Describes what is wrong with a plan, or what `run(job)` says of its steps at some timing; empty: nothing. If no
/// collective overlaps with other work, one timing is enough.
template <class Run>
std::string fault_at_some_timing(meshtensor::module const& m, int entry, meshtensor::plan const& p, Run run) {
  std::string fault(meshtensor::verify_waits(m).report.view());
  if (fault.empty()) fault = meshtensor::verify_plan(m, entry, p).report.view();
  std::size_t const timings = meshtensor::count_overlapped(m, p.steps) == 0 ? 1 : jobs_of_each_timing().size();
  for (std::size_t i = 0; i < timings && fault.empty(); ++i) {
    fault = run(jobs_of_each_timing()[i]);
    if (!fault.empty()) fault += std::string(", collectives ") + text_of(meshtensor::collective_timings[i]);
  }
  return fault;
}

}  // namespace meshtensor_test
