// SPDX-License-Identifier: Apache-2.0
// Memory for what steps make: the executables of a store run one after another, so one block serves them all.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/memory.hpp"
#include "meshtensor/base/resident.hpp"

namespace meshtensor {

/// A block for each processor that this process holds, as large as the largest step of the store wants. Nothing in it
/// outlives a step, so it may move between two.
class scratch {
 public:
  /// Makes room for `bytes` of each of so many processors. errors M10 the system has no such block
  void reserve(std::size_t processors, std::size_t bytes) {
    if (blocks_.size() < processors) blocks_.resize(processors);
    for (std::size_t k = 0; k < processors; ++k) {
      if (blocks_[k].size() >= bytes) continue;
      if (in_step_ && blocks_[k].size() != 0) left_.push_back(std::move(blocks_[k]));
      blocks_[k] = arena();  // first, so that there are never both
      blocks_[k] = arena(bytes);
    }
  }
  /// Where the block of a processor is now; nowhere if it has none.
  std::byte* of(std::size_t k) { return k < blocks_.size() ? blocks_[k].data() : nullptr; }
  /// How much of the first `bytes` of it is in memory.
  std::int64_t resident(std::size_t k, std::int64_t bytes) const {
    if (k >= blocks_.size()) return 0;
    return resident_bytes(blocks_[k].data(), std::min(bytes, static_cast<std::int64_t>(blocks_[k].size())));
  }

  /// Runs a step, which has the blocks for itself. errors R27 one is under way
  template <class Step>
  void use(Step const& step) {
    if (in_step_.exchange(true))
      throw error("R27",
                  "a store is asked for a step while it is in one, by another thread of the program or from inside the "
                  "step: its executables take turns");
    struct at_end {
      std::atomic<bool>& in_step;
      ~at_end() { in_step = false; }
    } const end{in_step_};
    step();
  }
  /// Keeps the blocks as they are, and has none from now on: messages that are still under way may write to them.
  void leave() {
    std::ranges::move(blocks_, std::back_inserter(left_));
    blocks_.clear();
  }
  /// Frees nothing, ever.
  void stay() { stays(blocks_), stays(left_); }

 private:
  std::vector<arena> blocks_, left_;
  std::atomic<bool> in_step_ = false;
};

}  // namespace meshtensor
