// SPDX-License-Identifier: Apache-2.0
// The communicator concept: a rank starts a collective of a group on its buffers, tests it and waits for it.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "meshtensor/comm/collective.hpp"

namespace meshtensor {

/// One rank's interface to a transport. All members of a group start the same collectives in the same order. A rank may
/// wait for them in any order, and several collectives may be in flight.
///
/// `prepare(group)`    Makes the group known. Before the first step, every rank calls it for its groups, and all ranks
///                     call it in the same order. Afterwards a collective allocates nothing.
/// `start(…)`          Begins the collective `call` of the group `g`. `in`, `out` and `workspace` belong to the
///                     collective until `wait` returns or `test` gives true. The workspace is aligned to 64 bytes
///                     and has at least `workspace_bytes`. For all_reduce and broadcast, `in` may be `out`.
/// `test(request)`     Drives progress, and gives true if the collective is complete.
/// `wait(request)`     Returns when the collective is complete, and throws if another rank has failed.
/// `barrier()`         Waits until all ranks have come to it.
/// `workspace_bytes`   Gives the bytes of workspace that `start` needs for this call over `count` members.
/// `abort(message)`    Reports that this rank has failed, so that no other rank waits for ever. It does not return.
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
