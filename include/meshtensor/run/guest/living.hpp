// SPDX-License-Identifier: Apache-2.0
// Keeps the guests that were created and not yet destroyed, by number.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/job/job.hpp"
#include "meshtensor/run/guest/caller_arrays.hpp"
#include "meshtensor/run/guest/status.hpp"
#include "meshtensor/run/store.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The number of the next guest. No number is used twice, so that a call with a destroyed guest is detected.
inline std::int64_t next_guest() {
  static std::atomic<std::int64_t> last = 0;
  return ++last;
}

/// The job, the store and the programs of a guest.
struct guest_state {
  job runs;
  store weights{runs};
  std::vector<std::unique_ptr<guest_steps>> programs = {};
  std::mutex busy = {};
};

/// The guests of one type `Guest`.
template <class Guest>
class living_guests {
  using state = guest_state;
  // Never destroyed, because a guest that lives until exit would free its communicator after MPI_Finalize.
  struct guests {
    std::mutex lock;
    std::map<std::int64_t, std::shared_ptr<state>> all;
  };

 public:
  static guests& living() {
    static guests& g = *new guests;
    return g;
  }
  static bool has(std::int64_t number) {
    guests& g = living();
    std::lock_guard const lock(g.lock);
    return g.all.count(number) != 0;
  }
  static std::shared_ptr<state> find(std::int64_t number) {
    guests& g = living();
    std::lock_guard const lock(g.lock);
    auto const found = g.all.find(number);
    if (found == g.all.end())
      throw error("R35", number == 0 ? "the guest has not been created, or it was destroyed"
                                     : "the guest was destroyed, or its memory was overwritten");
    return found->second;
  }
  // All ranks destroy a guest together. So a rank that ends MPI does what the others do in `destroy`, in their order.
  static void destroy_all() noexcept {
    with_status(nullptr, [] {
      std::map<std::int64_t, std::shared_ptr<state>> all;
      {
        std::lock_guard const lock(living().lock);
        all.swap(living().all);
      }
      for (auto& [number, s] : all) s.reset();
    });
  }
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
