// SPDX-License-Identifier: Apache-2.0
// One collective between its MPI calls: the group's communicators, its stage, its memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "meshtensor/comm/mpi/library.hpp"
#include "meshtensor/comm/mpi_algorithm.hpp"

namespace meshtensor::comm {

/// The communicators of a group. `second` is for second calls, because these have an order of their own.
struct group_communicators {
  std::vector<int> members;
  MPI_Comm first = MPI_COMM_NULL, second = MPI_COMM_NULL;
  std::int64_t next = 0;  // sequence number of the next collective
};

/// One collective, which reduces and copies between its MPI calls as messages complete.
struct mpi_pending {
  enum class stage : std::uint8_t { free, first, reduced, second, done };
  stage at = stage::free;
  int slot = 0, round = 0;  // of an all_reduce in steps
  int open = 0;             // MPI requests that are not complete
  int index = 0, count = 0;
  std::int64_t sequence = 0;
  group_communicators* over = nullptr;  // null for a wait that is not for a collective
  char const* what = nullptr;           // the name of such a wait: `a barrier`
  int const* members = nullptr;         // the participating ranks, `count` of them
  collective_call call = {};
  mpi_algorithm form = {};
  void const* in = nullptr;
  std::byte* out = nullptr;
  std::byte *counts = nullptr, *packed = nullptr, *received = nullptr;  // in the workspace

  std::int64_t element_bytes() const { return static_cast<std::int64_t>(bytes_of(call.type)); }
};

}  // namespace meshtensor::comm
