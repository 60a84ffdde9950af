// SPDX-License-Identifier: Apache-2.0
// Exponential topologies: messages from workers that are 1, 2, 4, … hops away, all of them in each round or one a
// round.
#pragma once

#include "meshtensor/regime/topology.hpp"

namespace meshtensor {

/// Each worker gets the values of the workers 1, 2, 4, … hops before it. All of them count alike.
///
/// source  Ying et al. 2021, arXiv:2110.13363: exponential graphs
struct exponential {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int n) { return detail::rounds_of_doubling(n); }
  static constexpr edge incoming(int n, std::int64_t round, int worker, int slot) {
    return {detail::worker_before(n, worker, 1 << slot), kept(n, round, worker)};
  }
  static constexpr double kept(int n, std::int64_t, int) { return 1.0 / (1 + slots(n)); }
};

/// In round k each worker gets half of the value of the worker 2^(k mod ⌈log2 n⌉) hops before it. If n is a power of
/// two, all workers have the mean after one period.
///
/// source  Assran et al. 2019, arXiv:1811.10792: stochastic gradient push
struct one_peer_exponential {
  static constexpr int period(int n) { return n < 3 ? 1 : detail::rounds_of_doubling(n); }
  static constexpr int slots(int) { return 1; }
  static constexpr edge incoming(int n, std::int64_t round, int worker, int) {
    if (n == 1) return {};
    return {detail::worker_before(n, worker, 1 << detail::round_of(round, period(n))), 0.5};
  }
  static constexpr double kept(int n, std::int64_t, int) { return n == 1 ? 1 : 0.5; }
};

/// In each round, even and odd workers form pairs, whose members both get the mean of the pair. An even worker meets
/// the odd one 1, 3, 5, 9, … hops ahead. If n is odd, each round leaves out another worker, and the others count on
/// from it.
///
/// source  Assran et al. 2019, arXiv:1811.10792: bipartite exponential graphs
struct bipartite_exponential {
  static constexpr int period(int n) { return n < 3 ? 1 : hops(n) * (n % 2 == 0 ? 1 : n); }
  static constexpr int slots(int) { return 1; }
  static constexpr edge incoming(int n, std::int64_t round, int worker, int) {
    int const at = detail::round_of(round, period(n)), pairs = n / 2 * 2;
    int const first = n % 2 == 0 ? 0 : at % n + 1;  // the worker that counts as the first one
    int const position = (worker - first % n + n) % n;
    if (position >= pairs) return {};
    int const k = at % hops(n), hop = k == 0 ? 1 : 1 + (1 << k);
    int const peer = (position + (position % 2 == 0 ? hop : pairs - hop % pairs)) % pairs;
    return {(peer + first) % n, 0.5};
  }
  static constexpr double kept(int n, std::int64_t round, int worker) {
    return incoming(n, round, worker, 0).source < 0 ? 1 : 0.5;
  }

 private:
  /// The number of different hops, all less than the number of workers.
  static constexpr int hops(int n) {
    int count = 1;
    while (1 + (1 << count) < n) ++count;
    return count;
  }
};

}  // namespace meshtensor
