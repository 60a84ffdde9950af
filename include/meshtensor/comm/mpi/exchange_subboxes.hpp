// SPDX-License-Identifier: Apache-2.0
// Messages of a general exchange: each carries the subboxes of one member's box that another member needs.
#pragma once

#include "meshtensor/comm/mpi/requests.hpp"
#include "meshtensor/comm/reference.hpp"

namespace meshtensor::comm {

/// The address in the result of all elements that come from member `j`, or null if they are not contiguous there.
inline std::byte* place_in_result(mpi_pending const& f, int j) {
  movement const& m = *f.call.moves;
  box const& to = m.to[static_cast<std::size_t>(f.index)];
  auto const p = contiguous_subbox(m, f.call.at, j, f.index, to);
  return p ? f.out + offset_in(to, m.dims, p->to) * f.element_bytes() : nullptr;
}
/// The address in the operand of all elements that go to member `j`, or null if they are not contiguous there.
inline std::byte const* place_in_operand(mpi_pending const& f, int j) {
  movement const& m = *f.call.moves;
  box const& from = m.from[static_cast<std::size_t>(f.index)];
  auto const p = contiguous_subbox(m, f.call.at, f.index, j, from);
  return p ? static_cast<std::byte const*>(f.in) + offset_in(from, m.dims, p->from) * f.element_bytes() : nullptr;
}

/// Sends messages only to members that need some elements. Members that get the same box get the same message.
inline void send_subboxes(mpi_requests& requests, mpi_pending& f) {
  movement const& m = *f.call.moves;
  std::int64_t const size = f.element_bytes();
  MPI_Datatype const type = moved(f.call.type);
  std::byte* next = f.received;
  for (int j = 0; j < f.count; ++j) {
    std::int64_t const n = j == f.index ? 0 : moved_elements(m, f.call.at, j, f.index);
    if (n == 0) continue;
    std::byte* const direct = place_in_result(f, j);
    std::byte* const to = direct != nullptr ? direct : next;
    must(MPI_Irecv(to, static_cast<int>(n), type, j, 0, f.over->first, requests.post(f)), "MPI_Irecv");
    if (direct == nullptr) next += n * size;
  }
  next = f.packed;
  auto* const packed = reinterpret_cast<std::byte**>(f.counts);  // the message to each member
  for (int j = 0; j < f.count; ++j) {
    std::int64_t const n = j == f.index ? 0 : moved_elements(m, f.call.at, f.index, j);
    packed[j] = nullptr;
    if (n == 0) continue;
    if (std::byte const* const direct = place_in_operand(f, j); direct != nullptr) {
      must(MPI_Isend(direct, static_cast<int>(n), type, j, 0, f.over->first, requests.post(f)), "MPI_Isend");
      continue;
    }
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
    if (j != f.index && place_in_result(f, j) == nullptr)
      each_subbox(*f.call.moves, f.call.at, j, f.index, [&](moved_subbox const& p) {
        unpack_subbox(*f.call.moves, p, size, f.index, f.out, from);
        from += p.elements(f.call.dims) * size;
      });
}

}  // namespace meshtensor::comm
