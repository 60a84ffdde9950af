// SPDX-License-Identifier: Apache-2.0
// A barrier of messages over `notices`, before MPI calls in which ranks wait for each other without a limit.
#pragma once

#include "meshtensor/comm/mpi/progress.hpp"
#include "meshtensor/comm/mpi/watch.hpp"

namespace meshtensor::comm {

/// The purpose of a barrier. It is also the tag of its messages, so that a rank in another barrier than its peers
/// waits, and the error can name both barriers.
enum class handshake { groups = 2, barrier, end };
/// A barrier over a group of n ranks, in log2(n) rounds, rounded up. It uses messages, because a collective could be
/// matched with one of the program's if a rank does something else. `wait(slot)` waits for one round.
///
/// source  the dissemination barrier of Hensgen, Finkel, Manber, "Two Algorithms for Barrier Synchronization", 1988
template <class Wait>
void meet(mpi_pending_collectives& pending, mpi_progress& progress, MPI_Comm notices, group const& g, handshake m,
          collective_call const& first, Wait const& wait) {
  constexpr char const* names[] = {"the first collective", "a barrier", mpi_watch::the_end};
  mpi_pending f;
  f.what = names[static_cast<int>(m) - 2], f.members = g.members, f.count = g.count, f.call = first;
  for (int step = 1; step < g.count; step *= 2) {
    int slot = -1;
    {
      auto const held = progress.lock();
      slot = pending.token(f, notices, static_cast<int>(m), g.members[(g.index + step) % g.count],
                           g.members[(g.index + g.count - step) % g.count]);
    }
    wait(slot);
  }
}

}  // namespace meshtensor::comm
