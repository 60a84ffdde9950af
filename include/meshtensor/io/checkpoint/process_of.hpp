// SPDX-License-Identifier: Apache-2.0
// The number of this process among the processes of a job.
#pragma once

#include "meshtensor/job/job_runner.hpp"

namespace meshtensor::io {

/// The number of processes in a job, and the rank of this one.
struct process_of {
  int rank = 0, count = 1;
  explicit process_of(job_runner& j) {
    if (j.size() > 1) count = j.size(), rank = j.held(count)[0];
  }
};

}  // namespace meshtensor::io
