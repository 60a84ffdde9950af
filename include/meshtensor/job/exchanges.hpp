// SPDX-License-Identifier: Apache-2.0
// Interface through which an engine runs its collectives, either on a transport or between all ranks in lockstep.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "meshtensor/comm/exchange_timing.hpp"
#include "meshtensor/job/rank_context.hpp"

namespace meshtensor {

/// Runs the collectives of an engine's ranks.
class exchanges {
 public:
  virtual ~exchanges() = default;
  /// Starts a collective. If an earlier one of the same node was not waited for, that one ends first.
  virtual void start(std::span<rank_context> processors, node_id which, value_id from, value_id to) = 0;
  virtual void wait(node_id which) = 0;
  /// Whether a collective is pending.
  virtual bool is_under_way() const { return false; }
  /// Waits for all pending collectives.
  virtual void end_all() {}
  /// Progresses pending collectives. The engine calls it between nodes.
  virtual void progress() {}
  /// Bytes of workspace of the collectives, besides operands and results.
  virtual std::int64_t workspace_bytes() const { return 0; }
  /// Nanoseconds by which the clock of a network model is ahead of this machine's clock.
  virtual std::int64_t ahead() const { return 0; }
  /// Whether the collective passes operand and result unchanged to another library. If so, they may be in a device's
  /// memory.
  virtual bool only_mpi_touches(node_id) const { return false; }
};

namespace detail {
/// The collectives of all ranks in lockstep (lockstep.hpp).
template <class = lazy>
std::unique_ptr<exchanges> exchanges_in_lockstep(exchange_timing timing = exchange_timing::at_once);
}  // namespace detail

}  // namespace meshtensor
