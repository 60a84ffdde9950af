// SPDX-License-Identifier: Apache-2.0
// Manages the threads of one rank: how many it may use, and parallel loops over them. No other file uses oneTBB.
#pragma once

#include <algorithm>
#include <cstdint>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/cores.hpp"
#include "meshtensor/base/function_ref.hpp"

#if MESHTENSOR_WITH_TBB
#  include <oneapi/tbb/parallel_for.h>
#  include <oneapi/tbb/task_arena.h>
#endif

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The number of threads for one of `ranks` ranks that are threads of this process. It is the rank's share of the
/// threads that the process may use, but at least one.
inline int thread_budget(int ranks = 1) { return std::max(1, usable_threads() / std::max(1, ranks)); }

/// The threads of one rank: the calling thread, and workers. A loop returns when all its work is done. An exception in
/// it ends the loop and reaches the caller. Only one thread may call at a time.
class thread_team {
 public:
  explicit thread_team(int threads = thread_budget())
      : size_(std::max(1, threads))
#if MESHTENSOR_WITH_TBB
        ,
        arena_(size_, 1)
#endif
  {
  }

  int size() const { return size_; }
  /// The index of the current thread in a loop, which is below size().
  int here() const {
#if MESHTENSOR_WITH_TBB
    return size_ == 1 ? 0 : std::clamp(tbb::this_task_arena::current_thread_index(), 0, size_ - 1);
#else
    return 0;
#endif
  }

  /// Calls f(first, last) in parallel for ranges that together are [0, count). Each range starts at a multiple of
  /// `grain`. The ranges are not fixed, so the results of f must not depend on them.
  void parallel_for(std::int64_t count, std::int64_t grain, function_ref<void(std::int64_t, std::int64_t)> f) {
    if (count <= 0) return;
    if (size_ == 1 || count <= grain) return f(std::int64_t{0}, count);
#if MESHTENSOR_WITH_TBB
    std::int64_t const grains = (count + grain - 1) / grain;
    arena_.execute([&] {
      using range = tbb::blocked_range<std::int64_t>;
      tbb::parallel_for(range(0, grains),
                        [&](range const& r) { f(r.begin() * grain, std::min(count, r.end() * grain)); });
    });
#else
    f(std::int64_t{0}, count);
#endif
  }

 private:
  int size_;
#if MESHTENSOR_WITH_TBB
  tbb::task_arena arena_;
#endif
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
