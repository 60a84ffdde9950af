// SPDX-License-Identifier: Apache-2.0
// Runs collectives between all processors of a mesh on one thread, where every block can be read directly.
// why: a program that touches a collective's memory between start and wait may be right by luck under a transport. Here
// the moment of the exchange can be chosen, and results hold garbage until then.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "meshtensor/comm/exchange_timing.hpp"
#include "meshtensor/comm/reference.hpp"
#include "meshtensor/run/engine.hpp"

namespace meshtensor {

/// Runs each collective for all members at once, at the moment that `timing` says.
class lockstep final : public exchanges {
 public:
  explicit lockstep(exchange_timing timing = exchange_timing::at_once) : timing_(timing) {}

  void start(std::span<rank_context> all, id node_id, id from, id to) override {
    if (timing_ == exchange_timing::at_once) {
      gather(all, node_id, from, to, now_);
      return meshtensor::exchange(all[0].exchange(node_id).call, now_.groups, now_.in.data(), now_.out.data());
    }
    if (node_id >= late_.size()) late_.resize(node_id + 1u);
    if (!late_[node_id]) late_[node_id] = std::make_unique<pending>();
    wait(node_id);
    pending& p = *late_[node_id];
    gather(all, node_id, from, to, p);
    p.call = all[0].exchange(node_id).call;
    p.bytes = static_cast<std::size_t>(result_bytes_of(p.call, p.groups[0].count));
    if (timing_ == exchange_timing::results_late) {
      p.results.resize(all.size() * p.bytes);
      std::vector<void*> kept(all.size());
      for (std::size_t r = 0; r < all.size(); ++r) kept[r] = p.results.data() + r * p.bytes;
      meshtensor::exchange(p.call, p.groups, p.in.data(), kept.data());
    }
    for (std::size_t r = 0; r < all.size(); ++r)
      if (timing_ == exchange_timing::results_late || p.in[r] != p.out[r]) std::memset(p.out[r], garbage, p.bytes);
    p.under_way = true;
  }
  void wait(id node_id) override {
    if (node_id >= late_.size() || !late_[node_id] || !late_[node_id]->under_way) return;
    pending& p = *late_[node_id];
    p.under_way = false;
    if (timing_ == exchange_timing::operands_late)
      return meshtensor::exchange(p.call, p.groups, p.in.data(), p.out.data());
    for (std::size_t r = 0; r < p.out.size(); ++r) std::memcpy(p.out[r], p.results.data() + r * p.bytes, p.bytes);
  }
  bool is_under_way() const override {
    for (auto const& p : late_)
      if (p && p->under_way) return true;
    return false;
  }
  void end_all() override {
    for (std::size_t i = 0; i < late_.size(); ++i) wait(static_cast<id>(i));
  }

 private:
  static constexpr int garbage = 0xff;  // NaN as a float, -1 as an integer

  struct blocks_of_all {
    std::vector<group> groups;
    std::vector<void const*> in;
    std::vector<void*> out;
  };
  struct pending : blocks_of_all {
    collective_call call;
    std::size_t bytes = 0;  // of one result
    std::vector<std::byte> results;
    bool under_way = false;
  };

  static void gather(std::span<rank_context> all, id node_id, id from, id to, blocks_of_all& b) {
    b.groups.clear();
    b.in.resize(all.size()), b.out.resize(all.size());
    for (rank_context const& p : all) {
      planned_collective const& c = p.exchange(node_id);
      if (c.with.index == 0) b.groups.push_back(c.with);
      b.in[static_cast<std::size_t>(p.rank())] = p.pointer(from);
      b.out[static_cast<std::size_t>(p.rank())] = p.pointer(to);
    }
  }

  exchange_timing timing_;
  blocks_of_all now_;
  std::vector<std::unique_ptr<pending>> late_;  // by node
};

}  // namespace meshtensor
