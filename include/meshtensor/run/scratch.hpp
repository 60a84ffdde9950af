// SPDX-License-Identifier: Apache-2.0
// Shares one arena between the executables of a store, which step one after another.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/base/memory.hpp"
#include "meshtensor/base/resident.hpp"

namespace meshtensor {

/// One block for each rank that this process holds, as large as the store's largest step needs. A block keeps its
/// contents for one step only, so it may move between two steps.
class scratch {
 public:
  /// Grows the blocks of this many ranks to `bytes` each. errors M10 not enough memory
  void reserve(std::size_t ranks, std::size_t bytes) {
    if (blocks_.size() < ranks) blocks_.resize(ranks);
    for (std::size_t k = 0; k < ranks; ++k) {
      if (blocks_[k].size() >= bytes) continue;
      blocks_[k] = arena();  // frees first, so that both never exist at once
      blocks_[k] = arena(bytes);
    }
  }
  /// The current address of a rank's block, or null if it has none.
  std::byte* of(std::size_t k) { return k < blocks_.size() ? blocks_[k].data() : nullptr; }
  /// Resident bytes among the first `bytes` of a block.
  std::int64_t resident(std::size_t k, std::int64_t bytes) const {
    if (k >= blocks_.size()) return 0;
    return resident_bytes(blocks_[k].data(), std::min(bytes, static_cast<std::int64_t>(blocks_[k].size())));
  }

  /// Runs a step with exclusive use of the blocks. errors R27 a step is running already
  template <class Step>
  void use(Step const& step) {
    turn const mine(in_step_, "a step while it is in one");
    step();
  }
  /// Exclusive use, until the object is destroyed.
  class turn {
   public:
    turn(std::atomic<bool>& taken, char const* wanted) : taken_(taken) {
      if (taken_.exchange(true))
        throw error("R27", {"a store is asked for ", wanted,
                            ", by another thread of the program or from inside the step: its executables take turns"});
    }
    turn(turn const&) = delete;
    ~turn() { taken_ = false; }

   private:
    std::atomic<bool>& taken_;
  };
  /// Makes sure that no step runs and no other executable is made while an executable is made, because all of these
  /// change the store's values.
  /// errors  R27 a step runs, or another executable is made
  turn make_executable() { return turn(in_step_, "an executable while it is in a step or makes another one"); }
  /// Gives up the blocks without freeing them, because pending messages may still write to them.
  void leave() {
    left_.reserve(left_.size() + blocks_.size());
    std::ranges::move(blocks_, std::back_inserter(left_));
    blocks_.clear();
  }
  /// Makes sure that no block is ever freed.
  void stay() { stays(blocks_), stays(left_); }

 private:
  dynamic_array<arena> blocks_, left_;
  std::atomic<bool> in_step_ = false;
};

}  // namespace meshtensor
