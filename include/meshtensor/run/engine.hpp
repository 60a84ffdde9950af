// SPDX-License-Identifier: Apache-2.0
// Runs a list of instructions in order, with kernels on the device and collectives on the transport. It does so for one
// rank, or for all ranks of a mesh in lockstep on one thread.
#pragma once

#include <optional>
#include <span>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/job/collectives.hpp"
#include "meshtensor/run/engine/step_actions.hpp"
#include "meshtensor/run/engine/step_recorder.hpp"

namespace meshtensor {

/// Runs the instructions of a plan. The device runs the kernels, and the transport `among` runs the collectives. It is
/// null for an engine whose device runs the collectives of all ranks itself.
template <class Device>
class engine {
 public:
  /// Whether this engine reads the list of instructions. Otherwise the list may be empty.
  static constexpr bool reads_instructions = true;

  /// `instructions` are those of `entry` (pass/passes.hpp). The list must outlive the engine.
  engine(module const& m, plan const& p, int entry, std::span<instruction const> instructions, Device device,
         std::span<rank_context> ranks, transport* among);

  /// Runs one step. `numbers` are the evaluated numbers of the module.
  void run(std::span<external_buffers> external, number_value const* numbers, std::uint64_t seed, std::uint64_t step);

  /// Whether a failed step has left messages that may still write to memory.
  bool is_under_way() const { return collectives_.is_under_way(); }
  /// Starts or stops recording the time of each node.
  void record(bool on, int warm_up = 0) { recorder_.record(on, m_.node_count, warm_up); }
  timeline const* recorded() const { return recorder_.recorded(); }
  /// Sets two functions. `seen` is called after a node has run, while its results are still in memory. `before` is
  /// called before it, while its operands are in memory. Nodes without an instruction are not observed, because their
  /// results are their operands.
  using observer = step_recorder::observer;
  void observe(observer seen, observer before = {}) { recorder_.observe(std::move(seen), std::move(before)); }
  Device& device() { return device_; }
  /// Bytes of workspace of kernels and collectives, besides the plan's memory.
  std::int64_t workspace_bytes() const;

 private:
  using kernels = kernels_of_device<Device>;

  void load(rank_context const& p, node const& n);

  /// Runs the instruction at a position of the list, with its body if it has one. Returns the position of the next
  /// instruction.
  std::size_t run_at(std::size_t at);
  std::size_t do_at(std::size_t at);
  /// Runs up to the end of a body, and returns the position of that end.
  std::size_t run_body(std::size_t at);
  std::size_t run_loop(std::size_t at);
  std::size_t run_ahead(std::size_t at);

  void launch(instruction const& i);

  /// Executes an instruction of one rank that needs no kernel of the device, such as a copy.
  void move(instruction const& i, rank_context& p, external_buffers& o);

  meshtensor::module const& m_;
  Device device_;
  std::span<rank_context> contexts_;
  collectives collectives_;
  std::span<instruction const> list_;
  // By rank, then in the order of launches. Empty if a rank's parts of all results are empty.
  dynamic_array<std::optional<typename Device::kernel>> kernels_;
  std::size_t launches_ = 0;
  std::span<external_buffers> external_;
  step_recorder recorder_;
  dynamic_array<view> operands_, results_;  // of the node that runs
};

}  // namespace meshtensor

#include "meshtensor/run/engine/members.hpp"
