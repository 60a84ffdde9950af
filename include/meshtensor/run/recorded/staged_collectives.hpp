// SPDX-License-Identifier: Apache-2.0
// Runs the collectives of several processes for devices with memory of their own. They cut a step into parts, between
// which the host communicates the data that the device has copied to it.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "meshtensor/run/engine.hpp"
#include "meshtensor/run/recorded/commands.hpp"

namespace meshtensor {

/// While a step is recorded, `start` and `wait` cut the recording at each collective. They add copies between device
/// and host, and a function that the host calls between two parts. This function runs the collective on the same
/// transport as an engine of the host would. Between start and wait the machine continues to compute. Operands and
/// results are in blocks of the host, which the collectives reuse. However, they stay in the device's memory if the
/// device passes its memory to MPI and the collective takes it.
template <recording_device Device>
class staged_collectives {
  using program = typename Device::recorded_program;
  using commands = recorded_commands<Device>;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct under_way {
    std::byte* to = nullptr;                           // on the device; null if another rank holds the result
    std::int64_t bytes = 0;                            // to copy there
    std::size_t in = none, out = none, counts = none;  // blocks
  };

 public:
  /// `mine` is this process's only rank. The operands and results of its collectives get addresses of the host.
  staged_collectives(transport& t, module const& m, plan const& p, std::span<rank_context> mine)
      : mine_(mine), among_(t, m, p, mine) {}

  /// Collectives in flight at a position of a recorded step: they were started, but not waited for.
  class in_flight {
    friend staged_collectives;
    std::map<node_id, under_way> all;
  };
  in_flight pending() const {
    in_flight now;
    now.all = pending_;
    return now;
  }
  /// Begins at a position where these collectives are in flight.
  void begin_recording(in_flight const& before = {}) {
    pending_ = before.all;
    for (block& b : blocks_) b.is_free = true;
    for (auto const& [node, p] : pending_) set_free(p, false);
  }
  /// Sets the context of a step, before the machine gets the step.
  void begin_step(run_context const& c) { mine_[0].context = c; }

  /// `here` is this rank, with addresses of the device.
  void start(commands& to_do, instruction const& i, rank_context& here) {
    wait(to_do, i.node);
    planned_collective const& c = here.collective_before_counts(i.node);
    under_way p;
    std::byte* const from = here.pointer(i.from_value());
    p.to = here.pointer(i.to_value());
    std::byte *in = from, *out = p.to;
    if (!takes_device_memory(i.node)) {
      p.bytes = p.to == nullptr ? 0 : result_bytes_of(c.call, c.with.count, c.with.index);
      p.in = from == nullptr ? none : take(bytes_of(c.call));
      bool const in_place = from == p.to && from != nullptr;
      if (p.to != nullptr) p.out = in_place ? p.in : take(p.bytes);
      in = at(p.in), out = at(p.out);
      bool const gives = c.call.kind != collective::broadcast || c.with.index == c.call.root;
      if (in != nullptr && gives) to_do.download(in, from, bytes_of(c.call));
    }
    std::byte* counts = nullptr;  // for rows: how many go to which rank
    if (c.counts != no_id) {
      p.counts = take(here.bytes(c.counts)), counts = at(p.counts);
      to_do.download(counts, here.pointer(c.counts), here.bytes(c.counts));
    }
    to_do.cut(true, [this, i, in, out, counts, of_counts = c.counts, index = here.context.index] {
      mine_[0].context.index = index;
      if (counts != nullptr) mine_[0].set_pointer(of_counts, counts);
      mine_[0].set_pointer(i.from_value(), in), mine_[0].set_pointer(i.to_value(), out);
      among_.start(i.node, i.from_value(), i.to_value());
    });
    pending_.emplace(i.node, p);
  }
  void wait(commands& to_do, node_id which) {
    auto const found = pending_.find(which);
    if (found == pending_.end()) return;
    under_way const p = found->second;
    pending_.erase(found);
    to_do.cut(false, [this, which] { among_.wait(which); });
    if (p.bytes != 0) to_do.upload(p.to, at(p.out), p.bytes);
    set_free(p, true);
  }
  void end_all(commands& to_do) {
    while (!pending_.empty()) wait(to_do, pending_.begin()->first);
  }

  bool is_under_way() const { return among_.is_under_way(); }
  /// Progresses pending collectives, between parts.
  void progress() { among_.progress(); }
  std::int64_t workspace_bytes() const {
    std::int64_t all = among_.workspace_bytes();
    for (block const& b : blocks_) all += b.bytes;
    return all;
  }

 private:
  struct block {
    typename program::host_block memory;
    std::int64_t bytes;
    bool is_free;
  };

  bool takes_device_memory(node_id which) const {
    if constexpr (requires { Device::hands_memory_to_transport(); })
      return Device::hands_memory_to_transport() && among_.takes_device_memory(which);
    else return false;
  }
  void set_free(under_way const& p, bool is_free) {
    for (std::size_t const used : {p.in, p.out, p.counts})
      if (used != none) blocks_[used].is_free = is_free;
  }
  std::byte* at(std::size_t which) const { return which == none ? nullptr : blocks_[which].memory.at(); }
  /// Takes the smallest free block that is large enough, or a new one. If a step is recorded again, it takes the same
  /// blocks.
  std::size_t take(std::int64_t bytes) {
    std::size_t best = none;
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      if (blocks_[i].is_free && blocks_[i].bytes >= bytes && (best == none || blocks_[i].bytes < blocks_[best].bytes))
        best = i;
    if (best == none) {
      best = blocks_.size();
      blocks_.push_back({{Device::machine(), static_cast<std::size_t>(bytes)}, bytes, true});
    }
    blocks_[best].is_free = false;
    return best;
  }

  std::span<rank_context> mine_;
  std::vector<block> blocks_;
  std::map<node_id, under_way> pending_;  // while a step is recorded
  collectives among_;                     // destroyed before its memory
};

}  // namespace meshtensor
