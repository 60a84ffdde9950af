// SPDX-License-Identifier: Apache-2.0
// Rings: messages to the next worker, or to both neighbours.
#pragma once

#include "meshtensor/regime/topology.hpp"

namespace meshtensor {

/// Each worker sends half of its value to the next one.
struct directed_ring {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 1; }
  static constexpr edge incoming(int n, std::int64_t, int worker, int) {
    return n == 1 ? edge{} : edge{detail::worker_before(n, worker, 1), 0.5};
  }
  static constexpr double kept(int n, std::int64_t, int) { return n == 1 ? 1 : 0.5; }
};

/// Each worker exchanges its value with both neighbours. All three count alike.
struct ring {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 2; }
  static constexpr edge incoming(int n, std::int64_t round, int worker, int slot) {
    if (slot >= neighbours(n)) return {};
    return {detail::worker_before(n, worker, slot == 0 ? 1 : n - 1), kept(n, round, worker)};
  }
  static constexpr double kept(int n, std::int64_t, int) { return 1.0 / (1 + neighbours(n)); }

 private:
  static constexpr int neighbours(int n) { return n < 3 ? n - 1 : 2; }
};

}  // namespace meshtensor
