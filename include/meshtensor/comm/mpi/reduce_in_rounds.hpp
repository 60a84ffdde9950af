// SPDX-License-Identifier: Apache-2.0
// The messages and sums of a small all_reduce, in logarithmically many rounds.
#pragma once

#include "meshtensor/comm/mpi/requests.hpp"
#include "meshtensor/comm/reference.hpp"

namespace meshtensor::comm {

/// Starts the next round, or ends the collective. Rounds of several collectives may overtake each other between two
/// ranks, so each round has a tag.
inline void start_round(mpi_requests& requests, mpi_pending& f) {
  reduction_steps const steps(f.count);
  std::int64_t const n = elements_of(f.call);
  MPI_Datatype const type = moved(traveling(f.call.type));
  auto const tag = [&](int round) { return static_cast<int>(f.sequence % 512) * 64 + round + 1; };
  auto const receive = [&](int from, int round) {
    must(MPI_Irecv(f.received, static_cast<int>(n), type, from, tag(round), f.over->first, requests.post(f)),
         "MPI_Irecv");
  };
  auto const give = [&](int to, int round) {
    must(MPI_Isend(f.packed, static_cast<int>(n), type, to, tag(round), f.over->first, requests.post(f)), "MPI_Isend");
  };
  auto const end = [&](std::byte const* sums) {
    f.at = mpi_pending::stage::done;
    from_traveling(f.call.type, f.out, sums, n);
  };
  int const last = steps.exchanges() + 1, round = f.round++;
  if (f.index >= steps.doubling) {
    if (round == 0) give(f.index - steps.doubling, 0), receive(f.index - steps.doubling, last);
    else end(f.received);
  } else if (round == 0 && f.index < steps.rest) {
    receive(f.index + steps.doubling, 0);
  } else if (round > 0 && round < last) {
    int const peer = f.index ^ 1 << (round - 1);
    receive(peer, round), give(peer, round);
  } else if (round >= last) {
    if (round == last && f.index < steps.rest) give(f.index + steps.doubling, last);
    else end(f.packed);
  }
}

/// Combines the partial results with those that the completed round has received.
inline void finish_round(mpi_pending const& f) {
  reduction_steps const steps(f.count);
  int const done = f.round - 1;
  if (f.index >= steps.doubling || done > steps.exchanges() || (done == 0 && f.index >= steps.rest)) return;
  bool const is_first = done == 0 || (f.index & 1 << (done - 1)) == 0;
  combine(f.call.op, f.call.type, f.packed, is_first ? f.packed : f.received, is_first ? f.received : f.packed,
          elements_of(f.call));
}

}  // namespace meshtensor::comm
