// SPDX-License-Identifier: Apache-2.0
// Runs a list of instructions one after the other, kernels on the device and collectives on the transport: for one
// rank, or for all ranks of a mesh in lockstep on one thread.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "meshtensor/job/rank_context.hpp"
#include "meshtensor/op/detail/accumulate.hpp"
#include "meshtensor/pass/list_instructions.hpp"
#include "meshtensor/run/timeline.hpp"

namespace meshtensor {

/// The addresses of one processor's buffers outside its arena during a step.
struct external_buffers {
  std::vector<std::byte*> variables;  // by variable id
  std::vector<std::byte*> fed;        // by node id of the input
  std::vector<std::byte*> given;      // by node id of the output: the destination of its copy
};

/// Runs the collectives of an engine's processors.
class exchanges {
 public:
  virtual ~exchanges() = default;
  /// Starts a collective. An earlier one of the same node that was not waited for ends first.
  virtual void start(std::span<rank_context> processors, node_id which, value_id from, value_id to) = 0;
  virtual void wait(node_id which) = 0;
  /// Whether a collective is pending.
  virtual bool is_under_way() const { return false; }
  /// Waits for all pending collectives.
  virtual void end_all() {}
  /// Called between nodes: progresses pending collectives.
  virtual void progress() {}
  /// Bytes of workspace of the collectives, besides operands and results.
  virtual std::int64_t workspace_bytes() const { return 0; }
  /// Nanoseconds by which the clock of a network model is ahead of this machine's.
  virtual std::int64_t ahead() const { return 0; }
};

/// Runs the instructions of a plan: kernels on the device, collectives by the exchanges.
template <class Device>
class engine {
 public:
  engine(module const& m, plan const& p, int entry, Device device, std::span<rank_context> processors,
         std::unique_ptr<exchanges> among);

  /// Runs one step. `numbers` are the module's numbers, evaluated.
  void run(std::span<external_buffers> external, double const* numbers, std::uint64_t seed, std::uint64_t step);

  /// Whether a failed step has left messages that may still write to memory.
  bool is_under_way() const { return exchange_->is_under_way(); }
  /// Starts to record the time of each node, or stops.
  void record(bool on) { record_ = on ? std::make_unique<timeline>(m_.node_count) : nullptr; }
  timeline const* recorded() const { return record_.get(); }
  /// Called after a node has run, while its results are still there; or before it, while its operands are. Nodes
  /// without an instruction, whose results are their operands, are not seen.
  using observer = std::function<void(node const&, std::span<rank_context const>)>;
  void observe(observer seen, observer before = {}) { observer_ = std::move(seen), before_ = std::move(before); }
  Device& device() { return device_; }
  /// Bytes of workspace of kernels and collectives, besides the plan's memory.
  std::int64_t workspace_bytes() const;

 private:
  /// Whether the device runs a kernel's region in one call. Else the region's nodes would need buffers, which the plan
  /// does not allocate: such a device runs modules without fused kernels.
  static constexpr bool runs_regions =
      requires(Device& d, module const& m, view const* v) { d.prepare_region(m, m.nodes[0], v, v, v); };

  /// Whether a node, whose views are loaded, has anything to compute here.
  bool has_results(node const& n) const;
  typename Device::kernel prepared(rank_context const& p, node const& n);
  void launch(typename Device::kernel& k, evaluation const& e);
  std::int64_t now() const { return timeline::now() + exchange_->ahead(); }
  void load(rank_context const& p, node const& n);

  /// Runs the instruction at a place of the list, with its body if it has one, and gives the place of the next one.
  std::size_t run_at(std::size_t at);
  std::size_t do_at(std::size_t at);
  /// Runs up to the end of a body, and gives the place of that end.
  std::size_t run_body(std::size_t at);
  std::size_t run_loop(std::size_t at);
  std::size_t run_ahead(std::size_t at);

  void launch(instruction const& i);

  /// What a processor does in memory by itself, without the device's kernels.
  void move(instruction const& i, rank_context& p, external_buffers& o);
  /// Null: another processor holds the slice.
  static std::byte* slice_of(rank_context const& p, value_id stack, value_id slice) {
    view const& held = p.windows()[stack];
    std::int64_t const index = p.context.index - held.origin[0];
    return index < 0 || index >= held.extent[0] ? nullptr : p.pointer(stack) + index * p.bytes(slice);
  }
  /// A slice may lie where it is to go: in a stack that a loop reads and gives.
  static void copy_bytes(std::byte* to, std::byte const* from, std::int64_t bytes) {
    if (to != from && bytes != 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
  void bind_to_window(instruction const& i, rank_context& p);
  void copy_part_of(rank_context& p, instruction const& i);
  /// Adds the term of one iteration to a sum of a loop.
  void add_to(view const& total, view const& term);

  meshtensor::module const& m_;
  Device device_;
  std::span<rank_context> processors_;
  std::unique_ptr<exchanges> exchange_;
  std::vector<instruction> list_;
  // By processor, then as they are launched; none where a processor's parts of all results are empty.
  std::vector<std::optional<typename Device::kernel>> kernels_;
  std::size_t launches_ = 0;
  std::span<external_buffers> external_;
  std::unique_ptr<timeline> record_;
  observer observer_, before_;
  std::vector<view> operands_, results_;  // of the node that runs
};

}  // namespace meshtensor

#include "meshtensor/run/engine_members.hpp"
