// SPDX-License-Identifier: Apache-2.0
// Fills new values of a store with their initial numbers on background threads, while the calling thread compiles.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/base/cores.hpp"
#include "meshtensor/op/detail/initial.hpp"
#include "meshtensor/run/store.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {

/// A dense block that is cut into boxes, each contiguous in memory.
struct boxes_of_block {
  view whole;
  int dim = 0;            // the dim that is cut, so that a box has one index of each dim before it
  std::int64_t rows = 1;  // of that dim in a box
  std::int64_t cuts = 1;  // of that dim
  std::int64_t count = 1;

  /// Cuts a block that is not empty into boxes of at most `grain` elements.
  boxes_of_block(view const& block, std::int64_t grain) : whole(block) {
    std::int64_t inner = block.size();
    for (; dim < block.count && (inner /= block.extent[dim]) > grain; ++dim) count *= block.extent[dim];
    if (dim == block.count) return;  // a scalar
    rows = std::max<std::int64_t>(1, grain / inner), cuts = (block.extent[dim] + rows - 1) / rows, count *= cuts;
  }
  view box(std::int64_t number) const {
    view v = whole;
    if (whole.count == 0) return v;
    auto const keep = [&](int d, std::int64_t first, std::int64_t extent) {
      v.data = v.as<std::byte>() + first * v.stride[d] * static_cast<std::int64_t>(bytes_of(v.type));
      v.origin[d] += first, v.extent[d] = extent;
    };
    std::int64_t const first = number % cuts * rows;
    keep(dim, first, std::min(rows, whole.extent[dim] - first));
    number /= cuts;
    for (int d = dim; d-- > 0; number /= whole.extent[d]) keep(d, number % whole.extent[d], 1);
    return v;
  }
};

}  // namespace detail

/// Fills blocks of a store's new values. The numbers depend only on key and global index, so the number of threads does
/// not matter. Until `finish` has returned, no other code may touch these values. If `finish` never returns, for
/// example because the compilation has failed, the store removes the values whose blocks this object was to fill. The
/// next executable then makes them again.
class background_fill {
 public:
  /// Fills a part of a block. Several threads call it at the same time.
  using function = void (*)(view const&, initial_value const&);

  /// A thread takes at most `grain` elements at once. For example, 65,536 elements take about a millisecond.
  background_fill(store& values, function fill, std::int64_t grain = std::int64_t{1} << 16)
      : values_(values), fill_(fill), grain_(grain) {}
  background_fill(background_fill const&) = delete;
  background_fill& operator=(background_fill const&) = delete;
  ~background_fill() {
    if (is_finished_) return;
    next_ = count_;  // the remaining boxes stay unfilled
    join();
    for (filled_block const& w : work_)
      std::erase_if(values_.values(), [&](auto const& each) {
        return std::ranges::any_of(each.second.windows, [&](view const& v) { return v.data == w.boxes.whole.data; });
      });
  }

  /// Adds a dense block of zeros. If it has the same numbers as an earlier block, for example that of another rank, it
  /// becomes a copy of that block.
  void add(view const& block, initial_value const& first) {
    if (first.is_zero() || block.size() == 0) return;
    for (std::size_t i = work_.size(); i-- > 0 && work_[i].first == first;)
      if (is_same_part(work_[i].boxes.whole, block)) return work_[i].copies.push_back(block.data);
    work_.push_back({{block, grain_}, first, count_, {}});
    count_ += work_.back().boxes.count;
  }
  /// Starts at most this many threads, and fewer threads than there are boxes, because `finish` fills boxes, too.
  void begin(int threads = std::max(1, usable_threads() - 1)) {
    threads_.reserve(static_cast<std::size_t>(threads));
    try {
      for (int i = 0; i < threads && i + 1 < count_; ++i) threads_.emplace_back([this] { fill_all(); });
    } catch (std::system_error const&) {}  // fewer threads than asked for, perhaps none, so that finish() fills more
  }
  /// Helps until all boxes are filled. errors  the error of any thread, such as M10
  void finish() {
    fill_all();
    join();
    if (failure_) std::rethrow_exception(failure_);
    is_finished_ = true;
  }

 private:
  struct filled_block {
    detail::boxes_of_block boxes;
    initial_value first;
    std::int64_t begin;  // the number of its first box among all boxes
    std::vector<void*> copies;
  };

  static bool is_same_part(view const& a, view const& b) {
    auto const same = [&](std::int64_t const* of_a, std::int64_t const* of_b) {
      return std::equal(of_a, of_a + a.count, of_b);
    };
    return a.type == b.type && a.count == b.count && same(a.extent, b.extent) && same(a.origin, b.origin) &&
           same(a.total, b.total);
  }

  void fill_all() noexcept {
    try {
      for (std::int64_t i = next_++; i < count_; i = next_++) fill_box(i);
    } catch (...) {
      next_ = count_;  // the others stop, too
      std::lock_guard const lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
    }
  }
  void fill_box(std::int64_t number) {
    filled_block const& w = *--std::ranges::upper_bound(work_, number, {}, &filled_block::begin);
    view const box = w.boxes.box(number - w.begin);
    fill_(box, w.first);
    auto const offset = box.as<std::byte>() - w.boxes.whole.as<std::byte>();
    for (void* const copy : w.copies) copy_bytes(static_cast<std::byte*>(copy) + offset, box.data, box.bytes());
  }
  void join() {
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }

  store& values_;
  function fill_;
  std::int64_t grain_;
  std::vector<filled_block> work_;
  std::int64_t count_ = 0;  // boxes
  std::atomic<std::int64_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
  bool is_finished_ = false;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
