// SPDX-License-Identifier: Apache-2.0
// Counts and messages of an exchange by parts, whose members may have parts of unequal lengths, or none.
#pragma once

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/comm/mpi/requests.hpp"
#include "meshtensor/comm/reference.hpp"

namespace meshtensor::comm {

/// Computes four numbers for each member: the count and the position of the elements that go to it, then those of the
/// elements that come from it. `counts` gets four lists of these numbers, one after the other.
inline void count_parts(mpi_pending const& f, int* counts) {
  std::int64_t const size = f.element_bytes();
  std::int64_t const n = elements_of(f.call);
  std::int64_t sent = 0, received = 0;
  for (int j = 0; j < f.count; ++j) {
    bool const to_root = f.call.kind == collective::reduce && f.form.second == mpi_function::none;
    bool const reduces_parts = f.form.second != mpi_function::none;
    std::int64_t const to = to_root         ? (j == f.call.root ? n : 0)
                            : reduces_parts ? part_of(n, f.count, j).count
                                            : taken(f.call, f.count, f.index, j).bytes / size;
    std::int64_t const from = to_root              ? (f.index == f.call.root ? n : 0)
                              : reduces_parts      ? part_of(n, f.count, f.index).count
                              : joins(f.call.kind) ? placed(f.call, f.count, j, f.index).bytes / size
                                                   : taken(f.call, f.count, j, f.index).bytes / size;
    counts[j] = static_cast<int>(to), counts[f.count + j] = static_cast<int>(sent);
    counts[2 * f.count + j] = static_cast<int>(from), counts[3 * f.count + j] = static_cast<int>(received);
    sent += to, received += from;
  }
}

/// Sends the messages of an ialltoallv one by one, with as many elements as `counts` says. Therefore all of them
/// together may be more than an int counts.
inline void send_parts(mpi_requests& requests, mpi_pending& f, std::byte const* from, std::byte* to) {
  int const* const counts = reinterpret_cast<int const*>(f.counts);
  std::int64_t const size = f.element_bytes();
  MPI_Datatype const type = moved(f.call.type);
  std::byte* mine = to;
  for (int j = 0; j < f.count; ++j) {
    int const n = counts[2 * f.count + j];
    if (j == f.index) mine = to;
    else if (n != 0) must(MPI_Irecv(to, n, type, j, 0, f.over->first, requests.post(f)), "MPI_Irecv");
    to += n * size;
  }
  for (int j = 0; j < f.count; ++j) {
    int const n = counts[j];
    if (j == f.index) copy_bytes(mine, from, n * size);
    else if (n != 0) must(MPI_Isend(from, n, type, j, 0, f.over->first, requests.post(f)), "MPI_Isend");
    from += n * size;
  }
}

}  // namespace meshtensor::comm
