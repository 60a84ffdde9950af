// SPDX-License-Identifier: Apache-2.0
// The second MPI call of an all_reduce or a reduce by parts: gathers the reduced parts.
#pragma once

#include "meshtensor/comm/mpi/requests.hpp"
#include "meshtensor/comm/reference.hpp"

namespace meshtensor::comm {

inline void start_second_call(mpi_requests& requests, mpi_pending& f) {
  MPI_Datatype const type = moved(f.call.type);
  MPI_Request* const pending = requests.post(f);
  MPI_Comm const over = f.over->second;
  int const* const counts = reinterpret_cast<int const*>(f.counts);
  if (f.form.second == mpi_function::igatherv) {
    bool const is_root = f.index == f.call.root;
    std::byte* const mine = f.out + counts[f.count + f.index] * static_cast<std::int64_t>(bytes_of(f.call.type));
    must(MPI_Igatherv(is_root ? MPI_IN_PLACE : mine, counts[f.index], type, f.out, counts, counts + f.count, type,
                      f.call.root, over, pending),
         "MPI_Igatherv");
  } else if (f.form.counts_bytes != 0)
    must(MPI_Iallgatherv(MPI_IN_PLACE, 0, type, f.out, counts, counts + f.count, type, over, pending),
         "MPI_Iallgatherv");
  else
    must(MPI_Iallgather(MPI_IN_PLACE, 0, type, f.out, static_cast<int>(elements_of(f.call) / f.count), type, over,
                        pending),
         "MPI_Iallgather");
}

}  // namespace meshtensor::comm
