// SPDX-License-Identifier: Apache-2.0
// Keeps copies of blocks of memory in other formats until the blocks change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "meshtensor/base/memory.hpp"

namespace meshtensor {

class unchanged_blocks;

/// A reader's copy of a part of a block. The second read since the block changed makes it. Therefore a block that
/// changes between any two reads is never copied.
struct kept_copy {
  bool was_read = false, is_made = false;        // since the block changed
  unchanged_blocks const* of_program = nullptr;  // the blocks of its reader's program
  arena memory;

  void drop() {
    if (is_made) memory = arena();
    was_read = is_made = false;
  }
};

/// The copies of one block. The block's owner calls `drop` before anybody writes to it.
class kept_copies {
 public:
  /// Frees all copies.
  void drop() {
    for (std::weak_ptr<kept_copy> const& each : copies_)
      if (auto const copy = each.lock()) copy->drop();
    copies_.clear();
  }
  /// Frees all copies, and permits no more, because somebody has the block's address and may write to it at any time.
  void forbid() {
    drop();
    is_permitted_ = false;
  }
  bool is_permitted() const { return is_permitted_; }
  /// Registers a reader's copy, which `drop` then frees, too.
  void add(std::shared_ptr<kept_copy> const& copy) {
    if (copies_.size() == copies_.capacity()) std::erase_if(copies_, [](auto const& each) { return each.expired(); });
    copies_.push_back(copy);
  }

  /// The bytes of the copies that one program keeps.
  std::int64_t bytes(unchanged_blocks const& of_program) const {
    std::size_t sum = 0;
    for (std::weak_ptr<kept_copy> const& each : copies_)
      if (auto const copy = each.lock(); copy && copy->of_program == &of_program) sum += copy->memory.size();
    return static_cast<std::int64_t>(sum);
  }

 private:
  std::vector<std::weak_ptr<kept_copy>> copies_;
  bool is_permitted_ = true;
};

/// Finds the copies of the blocks that a program reads and never writes, by address.
class unchanged_blocks {
 public:
  void add(std::byte const* begin, std::size_t bytes, kept_copies& copies) {
    auto const after = std::ranges::upper_bound(all_, begin, {}, &block::begin);
    all_.insert(after, {begin, begin + bytes, &copies});
  }
  /// The copies of the block that has this byte, or null if no block has it.
  kept_copies* find(void const* where) const {
    auto const* const at = static_cast<std::byte const*>(where);
    auto const after = std::ranges::upper_bound(all_, at, {}, &block::begin);
    return after == all_.begin() || at >= std::prev(after)->end ? nullptr : std::prev(after)->copies;
  }
  /// The bytes of all copies that this program keeps.
  std::int64_t bytes_of_copies() const {
    std::int64_t sum = 0;
    for (block const& each : all_) sum += each.copies->bytes(*this);
    return sum;
  }

 private:
  struct block {
    std::byte const *begin, *end;
    kept_copies* copies;
  };
  std::vector<block> all_;  // ascending
};

/// The copies that one reader keeps, one for each address that it reads, because a reader in a loop reads the slices of
/// a stack in turn.
class copies_of_reader {
 public:
  /// The copy of the data at `from`. `fill(std::byte* to)` makes it, in `bytes` bytes. Null if none is kept, because
  /// `from` is in no unchanged block or is read for the first time since its block changed, or because memory is short.
  template <class Fill>
  std::byte const* find(void const* from, std::size_t bytes, unchanged_blocks const* unchanged, Fill const& fill) {
    kept_copies* const of = unchanged == nullptr ? nullptr : unchanged->find(from);
    if (of == nullptr || !of->is_permitted()) return nullptr;
    std::shared_ptr<kept_copy> const& copy = at(from);
    if (!copy->was_read) {
      of->add(copy);
      copy->was_read = true, copy->of_program = unchanged;
      return nullptr;
    }
    if (!copy->is_made) {
      try {
        copy->memory = arena(bytes);
      } catch (error const&) { return nullptr; }
      fill(copy->memory.data());
      copy->is_made = true;
    }
    return copy->memory.data();
  }

 private:
  std::shared_ptr<kept_copy> const& at(void const* from) {
    for (std::size_t tried = 0; tried < all_.size(); ++tried) {
      next_ = next_ + 1 < all_.size() ? next_ + 1 : 0;
      if (all_[next_].first == from) return all_[next_].second;
    }
    next_ = all_.size();
    return all_.emplace_back(from, std::make_shared<kept_copy>()).second;
  }

  std::vector<std::pair<void const*, std::shared_ptr<kept_copy>>> all_;
  std::size_t next_ = 0;  // of the copy that was read last, because a loop reads them in turn
};

}  // namespace meshtensor
