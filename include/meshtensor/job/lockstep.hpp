// SPDX-License-Identifier: Apache-2.0
// Runs collectives between all ranks of a mesh on one thread, which can read every block directly.
// why: on another transport, a program that touches a collective's memory between start and wait may be right by luck.
// Lockstep detects this, because it chooses the moment of the collective, and results hold garbage until then.
#pragma once

#include <cstring>
#include <deque>
#include <vector>

#include "meshtensor/comm/collective_timing.hpp"
#include "meshtensor/comm/reference.hpp"
#include "meshtensor/job/transport.hpp"

namespace meshtensor {

/// Runs each collective for all members together, at the moment that `timing` says. All ranks start a collective in
/// their order, and one wait ends it for all of them.
/// why: it is a template because g++ compiles every class that may stand behind `transport`, although few programs run
/// in lockstep.
template <class = lazy>
class lockstep final : public transport {
 public:
  explicit lockstep(int ranks, collective_timing timing = collective_timing::at_once)
      : ranks_(static_cast<std::size_t>(ranks)), timing_(timing) {}

  int prepare(planned_collective const&) override {
    // A collective at once is complete when its last rank has started it, so all of them use the same lists.
    if (timing_ != collective_timing::at_once || all_.empty()) all_.emplace_back(ranks_);
    return static_cast<int>(all_.size()) - 1;
  }
  bool start(int number, planned_collective const& c, void const* in, void* out) override {
    pending& p = all_[static_cast<std::size_t>(number)];
    auto const rank = static_cast<std::size_t>(c.members[static_cast<std::size_t>(c.with.index)]);
    if (rank == 0) p.groups.clear();
    if (c.with.index == 0) p.groups.push_back(c.with);
    p.calls[rank] = &c.call, p.in[rank] = in, p.out[rank] = out;
    p.bytes[rank] = out == nullptr ? 0 : static_cast<std::size_t>(result_bytes_of(c.call, c.with.count, c.with.index));
    if (rank + 1 < ranks_) return false;
    if (timing_ == collective_timing::at_once) {
      p.run(p.out.data());
      return false;
    }
    if (timing_ == collective_timing::results_late) {
      std::vector<void*> kept(ranks_);
      for (std::size_t r = 0; r < ranks_; ++r) p.results[r].resize(p.bytes[r]), kept[r] = p.results[r].data();
      p.run(kept.data());
    }
    for (std::size_t r = 0; r < ranks_; ++r)
      if (p.bytes[r] != 0 && (timing_ == collective_timing::results_late || p.in[r] != p.out[r]))
        std::memset(p.out[r], garbage, p.bytes[r]);
    return true;
  }
  void wait(int number) override {
    pending& p = all_[static_cast<std::size_t>(number)];
    if (timing_ == collective_timing::operands_late) return p.run(p.out.data());
    for (std::size_t r = 0; r < ranks_; ++r)
      if (p.bytes[r] != 0) std::memcpy(p.out[r], p.results[r].data(), p.bytes[r]);
  }

 private:
  static constexpr int garbage = 0xff;  // NaN as a float, -1 as an integer

  struct pending {
    explicit pending(std::size_t ranks) : calls(ranks), in(ranks), out(ranks), bytes(ranks), results(ranks) {}
    std::vector<group> groups;
    std::vector<collective_call const*> calls;  // by rank, like the next lists
    std::vector<void const*> in;
    std::vector<void*> out;
    std::vector<std::size_t> bytes;               // of each result
    std::vector<std::vector<std::byte>> results;  // kept until the wait
    void run(void* const* to) const {
      run_collective([this](int rank) -> collective_call const& { return *calls[static_cast<std::size_t>(rank)]; },
                     groups, in.data(), to);
    }
  };

  std::size_t ranks_;
  collective_timing timing_;
  std::deque<pending> all_;  // by number
};

}  // namespace meshtensor
