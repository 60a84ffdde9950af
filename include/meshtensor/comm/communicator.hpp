// SPDX-License-Identifier: Apache-2.0
// The communicator concept: start a collective over a group on a buffer, test it, wait for it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "meshtensor/comm/collective.hpp"

namespace meshtensor {

/// One rank's interface to a transport. All members of a group start the same collectives in the same order; waits may
/// come in any order, and several collectives may be in flight.
///
/// prepare(group)           makes the group known; every rank calls it for its groups, in one order, before the first
///                          step. Afterwards nothing is allocated per collective.
/// start(call, group, in,   begins; `in`, `out` and `workspace` (64-byte aligned, of at least workspace_bytes)
///       out, workspace)    belong to the collective until `wait` returns or `test` says true. `in` may be `out`
///                          for all_reduce and broadcast.
/// test(request)            whether it is complete; drives progress
/// wait(request)            returns when it is complete; throws when another rank has failed
/// barrier()                over all ranks
/// workspace_bytes          what `start` needs for this call over `count` members
/// abort(message)           reports that this rank has failed, so that no other rank waits for ever. Does not return.
template <class C>
concept communicator = requires(C& c, C const& k, collective_call const& call, group const& g, void const* in,
                                void* out, void* workspace, typename C::request& r, std::string_view message) {
  { k.rank() } -> std::same_as<int>;
  { k.size() } -> std::same_as<int>;
  { k.workspace_bytes(call, int{}) } -> std::same_as<std::int64_t>;
  { c.prepare(g) } -> std::same_as<void>;
  { c.start(call, g, in, out, workspace) } -> std::same_as<typename C::request>;
  { c.test(r) } -> std::same_as<bool>;
  { c.wait(r) } -> std::same_as<void>;
  { c.barrier() } -> std::same_as<void>;
  { c.abort(message) } -> std::same_as<void>;
};

}  // namespace meshtensor
