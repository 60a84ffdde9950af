// SPDX-License-Identifier: Apache-2.0
// Runs collectives between all ranks of a mesh on one thread, which can read every block directly.
// why: under a transport, a program that touches a collective's memory between start and wait may be right by luck.
// Lockstep detects this, because it chooses the moment of the exchange, and results hold garbage until then.
#pragma once

#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "meshtensor/comm/reference.hpp"
#include "meshtensor/job/exchanges.hpp"

namespace meshtensor {

/// Runs each collective for all members together, at the moment that `timing` says.
/// why: it is a template because g++ compiles every class that may stand behind `exchanges`, although few programs run
/// in lockstep.
template <class = lazy>
class lockstep final : public exchanges {
 public:
  explicit lockstep(exchange_timing timing = exchange_timing::at_once) : timing_(timing) {}

  void start(std::span<rank_context> all, node_id which, value_id from, value_id to) override {
    if (timing_ == exchange_timing::at_once) {
      gather(all, which, from, to, now_);
      return now_.exchange(now_.out.data());
    }
    if (which >= late_.size()) late_.resize(which + 1u);
    if (!late_[which]) late_[which] = std::make_unique<pending>();
    wait(which);
    pending& p = *late_[which];
    gather(all, which, from, to, p);
    p.bytes.clear();
    for (rank_context const& one : all) p.bytes.push_back(static_cast<std::size_t>(one.bytes(to)));
    if (timing_ == exchange_timing::results_late) {
      std::vector<void*> kept(all.size());
      p.results.resize(all.size());
      for (std::size_t r = 0; r < all.size(); ++r) p.results[r].resize(p.bytes[r]), kept[r] = p.results[r].data();
      p.exchange(kept.data());
    }
    for (std::size_t r = 0; r < all.size(); ++r)
      if (p.bytes[r] != 0 && (timing_ == exchange_timing::results_late || p.in[r] != p.out[r]))
        std::memset(p.out[r], garbage, p.bytes[r]);
    p.under_way = true;
  }
  void wait(node_id which) override {
    if (which >= late_.size() || !late_[which] || !late_[which]->under_way) return;
    pending& p = *late_[which];
    p.under_way = false;
    if (timing_ == exchange_timing::operands_late) return p.exchange(p.out.data());
    for (std::size_t r = 0; r < p.out.size(); ++r)
      if (p.bytes[r] != 0) std::memcpy(p.out[r], p.results[r].data(), p.bytes[r]);
  }
  bool is_under_way() const override {
    for (auto const& p : late_)
      if (p && p->under_way) return true;
    return false;
  }
  void end_all() override {
    for (std::size_t i = 0; i < late_.size(); ++i) wait(static_cast<node_id>(i));
  }

 private:
  static constexpr int garbage = 0xff;  // NaN as a float, -1 as an integer

  struct blocks_of_all {
    std::vector<group> groups;
    std::vector<collective_call const*> calls;  // by rank, like the next two
    std::vector<void const*> in;
    std::vector<void*> out;
    void exchange(void* const* to) const {
      meshtensor::exchange(
          [this](int rank) -> collective_call const& { return *calls[static_cast<std::size_t>(rank)]; }, groups,
          in.data(), to);
    }
  };
  struct pending : blocks_of_all {
    std::vector<std::size_t> bytes;               // of each result
    std::vector<std::vector<std::byte>> results;  // kept until the wait
    bool under_way = false;
  };

  static void gather(std::span<rank_context> all, node_id which, value_id from, value_id to, blocks_of_all& b) {
    b.groups.clear();
    b.calls.resize(all.size());
    b.in.resize(all.size()), b.out.resize(all.size());
    for (rank_context& p : all) {
      planned_collective const& c = p.exchange_now(which);
      if (c.with.index == 0) b.groups.push_back(c.with);
      b.calls[static_cast<std::size_t>(p.rank())] = &c.call;
      b.in[static_cast<std::size_t>(p.rank())] = p.pointer(from);
      b.out[static_cast<std::size_t>(p.rank())] = p.pointer(to);
    }
  }

  exchange_timing timing_;
  blocks_of_all now_;
  std::vector<std::unique_ptr<pending>> late_;  // by node
};

namespace detail {
template <class>
std::unique_ptr<exchanges> exchanges_in_lockstep(exchange_timing timing) {
  return std::make_unique<lockstep<>>(timing);
}
#if MESHTENSOR_COMPILED
extern template std::unique_ptr<exchanges> exchanges_in_lockstep<lazy>(exchange_timing);
#endif
}  // namespace detail

}  // namespace meshtensor
