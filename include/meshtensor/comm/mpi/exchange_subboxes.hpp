// SPDX-License-Identifier: Apache-2.0
// Messages of a general exchange: each carries the subboxes of one member's box that another member needs.
#pragma once

#include "meshtensor/comm/mpi/requests.hpp"
#include "meshtensor/comm/reference.hpp"

namespace meshtensor::comm {

/// Sends messages only to members that need some elements. Members that get the same box get the same message.
inline void send_subboxes(mpi_requests& requests, mpi_pending& f) {
  movement const& m = *f.call.moves;
  std::int64_t const size = f.element_bytes();
  MPI_Datatype const type = moved(f.call.type);
  std::byte* next = f.received;
  for (int j = 0; j < f.count; ++j) {
    std::int64_t const n = j == f.index ? 0 : moved_elements(m, f.call.at, j, f.index);
    if (n != 0) must(MPI_Irecv(next, static_cast<int>(n), type, j, 0, f.over->first, requests.post(f)), "MPI_Irecv");
    next += n * size;
  }
  next = f.packed;
  auto* const packed = reinterpret_cast<std::byte**>(f.counts);  // the message to each member
  for (int j = 0; j < f.count; ++j) {
    std::int64_t const n = j == f.index ? 0 : moved_elements(m, f.call.at, f.index, j);
    packed[j] = nullptr;
    if (n == 0) continue;
    std::byte*& message = packed[m.alike[static_cast<std::size_t>(j)]];
    if (message == nullptr) {
      message = next;
      each_subbox(m, f.call.at, f.index, j, [&](moved_subbox const& p) {
        pack_subbox(m, p, size, next, f.index, f.in);
        next += p.elements(m.dims) * size;
      });
    }
    must(MPI_Isend(message, static_cast<int>(n), type, j, 0, f.over->first, requests.post(f)), "MPI_Isend");
  }
  fill_uncovered(m, f.call.at, f.index, size, f.call.around, f.out);
  each_subbox(m, f.call.at, f.index, f.index,
              [&](moved_subbox const& p) { copy_subbox(m, p, size, f.index, f.out, f.index, f.in); });
}

/// Puts the subboxes of the others into the result.
inline void unpack_subboxes(mpi_pending const& f) {
  std::int64_t const size = f.element_bytes();
  std::byte const* from = f.received;
  for (int j = 0; j < f.count; ++j)
    if (j != f.index)
      each_subbox(*f.call.moves, f.call.at, j, f.index, [&](moved_subbox const& p) {
        unpack_subbox(*f.call.moves, p, size, f.index, f.out, from);
        from += p.elements(f.call.dims) * size;
      });
}

}  // namespace meshtensor::comm
