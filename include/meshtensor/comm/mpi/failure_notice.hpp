// SPDX-License-Identifier: Apache-2.0
// The notice by which a rank tells all others that it has failed, and why. mpi_requests receives it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <thread>
#include <vector>

#include "meshtensor/comm/mpi/library.hpp"

namespace meshtensor::comm {

/// A failure, and the phase in which it happened. Ranks that have not come to this phase go on for as long as they can.
/// The phase is the number of begins and ends of a rank's work with the others, such as steps.
struct failure_text {
  std::int64_t phase = 0;
  char text[1024] = "";
};

/// Its messages may stay pending after they were sent. Therefore the notice must stay at its address.
class failure_notice {
 public:
  /// Sends it to all other ranks of `over`.
  failure_notice(MPI_Comm over, std::int64_t phase, std::string_view why) : what_{phase} {
    why.copy(what_.text, sizeof what_.text - 1);
    int rank = 0, size = 0;
    MPI_Comm_rank(over, &rank), MPI_Comm_size(over, &size);
    messages_.reserve(static_cast<std::size_t>(size));
    for (int r = 0; r < size; ++r)
      if (r != rank) MPI_Isend(&what_, sizeof what_, MPI_BYTE, r, 0, over, &messages_.emplace_back(MPI_REQUEST_NULL));
    using clock = std::chrono::steady_clock;
    auto const deadline = clock::now() + std::chrono::seconds(2);  // a rank that is gone receives nothing
    for (int all = 0; all == 0 && clock::now() < deadline; std::this_thread::yield())
      MPI_Testall(static_cast<int>(messages_.size()), messages_.data(), &all, MPI_STATUSES_IGNORE);
  }
  failure_notice(failure_notice const&) = delete;

  std::string_view text() const { return what_.text; }

 private:
  failure_text what_;
  std::vector<MPI_Request> messages_;
};

}  // namespace meshtensor::comm
