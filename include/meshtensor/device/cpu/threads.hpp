// The threads of one processor: how many it may use, and loops that they share. The only door to oneTBB.
#pragma once

#include <sched.h>

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <thread>

#include "meshtensor/base/function_ref.hpp"

#if defined(MESHTENSOR_WITH_TBB)
#  include <oneapi/tbb/parallel_for.h>
#  include <oneapi/tbb/task_arena.h>
#endif

namespace meshtensor::cpu {

/// The cores that a thread may run on. A plain value: processes can send it to each other.
using core_set = std::bitset<1024>;

/// The cores that the calling thread may run on: what taskset, mpirun's binding or a container left of the machine.
inline core_set usable_cores() {
  core_set result;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (std::size_t i = 0; i < result.size() && i < CPU_SETSIZE; ++i) result[i] = CPU_ISSET(i, &set);
  } else {
    auto const count = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < result.size() && i < count; ++i) result[i] = true;
  }
  return result;
}

/// How many threads the rank with cores `of_ranks[self]` should use, given the cores of all ranks on this machine: its
/// share of each core, at least one. Right for ranks bound to cores of their own and for ranks that share them.
inline int thread_budget(std::span<core_set const> of_ranks, std::size_t self) {
  double share = 0;
  for (std::size_t core = 0; core < core_set().size(); ++core)
    if (of_ranks[self][core])
      share +=
          1.0 / static_cast<double>(std::count_if(of_ranks.begin(), of_ranks.end(), [&](auto& s) { return s[core]; }));
  return std::max(1, static_cast<int>(share + 1e-6));
}

/// The same where `ranks` ranks share the calling thread's cores, as ranks that are threads of one process do. The
/// environment's MESHTENSOR_THREADS, where it is a number, stands for the number of cores.
inline int thread_budget(int ranks = 1) {
  int cores = static_cast<int>(usable_cores().count());
  if (char const* const given = std::getenv("MESHTENSOR_THREADS"))
    if (int const n = std::atoi(given); n > 0) cores = n;
  return std::max(1, cores / std::max(1, ranks));
}

/// The threads of one rank: the one that calls, and workers. Its loops return when all is done; an exception in one
/// ends the loop and reaches the caller. One thread calls at a time.
class thread_team {
 public:
  explicit thread_team(int threads = thread_budget())
      : size_(std::max(1, threads))
#if defined(MESHTENSOR_WITH_TBB)
        ,
        arena_(size_, 1)
#endif
  {
  }

  int size() const { return size_; }
  /// Inside a loop: which of the team's threads this is, below size().
  int here() const {
#if defined(MESHTENSOR_WITH_TBB)
    return size_ == 1 ? 0 : std::clamp(tbb::this_task_arena::current_thread_index(), 0, size_ - 1);
#else
    return 0;
#endif
  }

  /// f(first, last) for ranges that together are [0, count), each starting at a multiple of `grain`, at the same time.
  /// Which ranges is not fixed: f may only do what does not depend on it.
  void parallel_for(std::int64_t count, std::int64_t grain, function_ref<void(std::int64_t, std::int64_t)> f) {
    if (count <= 0) return;
    if (size_ == 1 || count <= grain) return f(std::int64_t{0}, count);
#if defined(MESHTENSOR_WITH_TBB)
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
#if defined(MESHTENSOR_WITH_TBB)
  tbb::task_arena arena_;
#endif
};

}  // namespace meshtensor::cpu
