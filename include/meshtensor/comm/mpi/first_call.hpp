// SPDX-License-Identifier: Apache-2.0
// The first MPI call of a collective, the packing before it, and the reduction and unpacking behind it.
#pragma once

#include "meshtensor/comm/mpi/exchange_parts.hpp"
#include "meshtensor/comm/mpi/exchange_subboxes.hpp"
#include "meshtensor/comm/mpi/reduce_in_rounds.hpp"
#include "meshtensor/comm/mpi/requests.hpp"
#include "meshtensor/comm/reference.hpp"

namespace meshtensor::comm {

/// Packs the block, and makes the first call or starts its messages one by one.
inline void start_first_call(mpi_requests& requests, mpi_pending& f) {
  using enum mpi_function;
  collective_call const& call = f.call;
  MPI_Datatype const type = moved(call.type);
  MPI_Comm const over = f.over->first;
  std::int64_t const n = elements_of(call), block = bytes_of(call);
  int const all = static_cast<int>(n), each = static_cast<int>(n / f.count);
  if (f.form.first == steps) {
    to_traveling(call.type, f.packed, f.in, n);
    return start_round(requests, f);
  }
  void const* from = f.in;
  if (f.form.packs && call.kind != collective::move) {
    std::byte* to = f.packed;
    for (int j = 0; j < f.count; ++j) {
      strided_slice const slice = taken(call, f.count, f.index, j);
      copy(to, whole(slice.bytes), f.in, slice);
      to += slice.bytes;
    }
    from = f.packed;
  }
  int* const counts = reinterpret_cast<int*>(f.counts);
  if (f.form.counts_bytes != 0 && call.kind != collective::move) count_parts(f, counts);
  void* const to = f.form.received_bytes != 0 ? f.received : f.out;
  switch (f.form.first) {
    case iallgather:
      return must(MPI_Iallgather(from, all, type, to, all, type, over, requests.post(f)), "MPI_Iallgather");
    case iallgatherv:
      return must(MPI_Iallgatherv(from, all, type, to, counts + 2 * f.count, counts + 3 * f.count, type, over,
                                  requests.post(f)),
                  "MPI_Iallgatherv");
    case ialltoall:
      return must(MPI_Ialltoall(from, each, type, to, each, type, over, requests.post(f)), "MPI_Ialltoall");
    case ialltoallv:
      return must(MPI_Ialltoallv(from, counts, counts + f.count, type, to, counts + 2 * f.count, counts + 3 * f.count,
                                 type, over, requests.post(f)),
                  "MPI_Ialltoallv");
    case iallreduce:
      return must(MPI_Iallreduce(f.in == f.out ? MPI_IN_PLACE : f.in, f.out, all, reduced(call.type),
                                 operation(call.op), over, requests.post(f)),
                  "MPI_Iallreduce");
    case ireduce_scatter_block:
      return must(
          MPI_Ireduce_scatter_block(from, f.out, each, reduced(call.type), operation(call.op), over, requests.post(f)),
          "MPI_Ireduce_scatter_block");
    case ireduce_scatter:
      return must(
          MPI_Ireduce_scatter(from, f.out, counts, reduced(call.type), operation(call.op), over, requests.post(f)),
          "MPI_Ireduce_scatter");
    case ibcast:
      if (f.index == call.root) copy(f.out, whole(block), f.in, whole(block));
      return must(MPI_Ibcast(f.out, all, type, call.root, over, requests.post(f)), "MPI_Ibcast");
    default: break;
  }
  if (call.kind == collective::move) send_subboxes(requests, f);
  else send_parts(requests, f, static_cast<std::byte const*>(from), static_cast<std::byte*>(to));
}

/// Reduces or unpacks the data that the first call has received.
inline void finish_first_call(mpi_pending& f) {
  std::int64_t const size = f.element_bytes();
  if (f.form.folds) {
    bool const is_empty = f.call.kind == collective::reduce && f.index != f.call.root;
    interval const part = f.form.second != mpi_function::none ? part_of(elements_of(f.call), f.count, f.index)
                          : is_empty ? interval{0, 0}
                                     : interval{0, result_bytes_of(f.call, f.count, f.index) / size};
    fold(f.call.op, f.call.type, f.out + part.begin * size, part.count, f.count,
         [&](int j) -> void const* { return f.received + j * part.count * size; });
  } else if (f.call.kind == collective::move) {
    unpack_subboxes(f);
  } else if (f.form.unpacks) {
    std::byte const* from = f.received;
    for (int j = 0; j < f.count; ++j) {
      strided_slice const slice = placed(f.call, f.count, j, f.index);
      copy(f.out, slice, from, whole(slice.bytes));
      from += slice.bytes;
    }
  }
}

}  // namespace meshtensor::comm
