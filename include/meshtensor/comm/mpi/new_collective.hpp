// SPDX-License-Identifier: Apache-2.0
// Makes the pending collective of a call that is about to start, or refuses the call.
#pragma once

#include <cstddef>
#include <limits>

#include "meshtensor/comm/mpi/pending_collective.hpp"

namespace meshtensor::comm {

/// The collective of a call over a group with the communicators `over`, which are null if it was not prepared. `form`
/// lists its MPI calls. errors R20, R23, R26
inline mpi_pending new_collective(collective_call const& call, group const& g, mpi_algorithm const& form,
                                  group_communicators* over, void const* in, void* out, void* workspace) {
  if (largest_count(call, g.count, form) > std::numeric_limits<int>::max())
    throw error("R26", {text_of(call), " over ", g.count,
                        " processes counts more than 2^31-1 elements in one call of MPI; shard it further"});
  if (over == nullptr)
    throw error("R23", {text_of(g), " was not prepared; call prepare for every group on all its ranks first"});
  if (workspace == nullptr && form.workspace_bytes() != 0)
    throw error("R20", {text_of(call), " needs a workspace of ", form.workspace_bytes(), " bytes"});
  mpi_pending f;
  f.index = g.index, f.count = g.count, f.members = over->members.data();
  f.sequence = over->next++, f.over = over, f.call = call, f.form = form;
  f.in = in, f.out = static_cast<std::byte*>(out);
  f.counts = static_cast<std::byte*>(workspace);
  f.packed = f.counts + form.counts_bytes;
  f.received = f.packed + form.packed_bytes;
  return f;
}

}  // namespace meshtensor::comm
