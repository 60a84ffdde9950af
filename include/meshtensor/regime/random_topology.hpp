// SPDX-License-Identifier: Apache-2.0
// Topologies that a seed draws anew in each round: pairs of workers, and numbers of receivers that differ.
#pragma once

#include "meshtensor/regime/topology.hpp"

namespace meshtensor {

namespace detail {

/// A random order of 0, 1, …, n - 1, of which each position is computed by itself. It scrambles the bits of a number in
/// the rounds of a Feistel cipher, again and again until the result is less than n.
struct random_order {
  std::int64_t n;
  std::uint64_t key;

  constexpr std::int64_t operator()(std::int64_t i) const {
    do i = scramble(i, 0, 1);
    while (i >= n);
    return i;
  }
  constexpr std::int64_t inverse(std::int64_t i) const {
    do i = scramble(i, rounds - 1, -1);
    while (i >= n);
    return i;
  }

 private:
  static constexpr int rounds = 12;  // with 8, some choices from a few numbers are still more frequent than others
  constexpr int half() const { return n < 2 ? 0 : (std::bit_width(static_cast<std::uint64_t>(n - 1)) + 1) / 2; }
  /// One pass over all rounds, beginning with `first`. A pass backwards undoes one forwards, if it begins and ends with
  /// the halves exchanged.
  constexpr std::int64_t scramble(std::int64_t i, int first, int step) const {
    std::uint64_t const all = static_cast<std::uint64_t>(i), mask = (std::uint64_t{1} << half()) - 1;
    std::uint64_t low = all & mask, high = all >> half();
    if (step < 0) low ^= high, high ^= low, low ^= high;
    for (int k = 0, round = first; k < rounds; ++k, round += step) {
      auto const r = static_cast<std::uint64_t>(round);
      std::uint64_t const next = high ^ (scrambled(key + r, low) & mask);
      high = low, low = next;
    }
    if (step < 0) low ^= high, high ^= low, low ^= high;
    return static_cast<std::int64_t>(high << half() | low);
  }
};

}  // namespace detail

/// In each round, random pairs of workers both get the mean of the pair. If n is odd, one worker keeps its value.
template <std::uint64_t Seed>
struct random_matching {
  static constexpr int period(int n) { return n < 3 ? 1 : 0; }
  static constexpr int slots(int) { return 1; }
  static constexpr edge incoming(int n, std::int64_t round, int worker, int) {
    detail::random_order const order{n, detail::scrambled(Seed, static_cast<std::uint64_t>(round))};
    std::int64_t const peer = order(worker) ^ 1;
    return peer < n ? edge{static_cast<int>(order.inverse(peer)), 0.5} : edge{};
  }
  static constexpr double kept(int n, std::int64_t round, int worker) {
    return incoming(n, round, worker, 0).source < 0 ? 1 : 0.5;
  }
  /// A worker has a public copy for each other one, and one for rounds without a message.
  static constexpr int copies(int n) { return n; }
  static constexpr int copy(int n, std::int64_t round, int worker) {
    int const peer = incoming(n, round, worker, 0).source;
    return peer < 0 ? worker : peer;
  }
};

/// Each worker gets a message from the worker before it and, in about half of all rounds, one from a random worker. So
/// workers send to different numbers of receivers, and each divides its value evenly among these and itself. The
/// weights that arrive at a worker need not sum to 1. Therefore plain averages are biased here, and push-sum is needed.
/// A round costs time that is quadratic in n.
template <std::uint64_t Seed>
struct random_out_degrees {
  static constexpr int period(int n) { return n == 1 ? 1 : 0; }
  static constexpr int slots(int) { return 2; }
  static constexpr edge incoming(int n, std::int64_t round, int worker, int slot) {
    int const source = slot == 0 ? before(n, worker) : drawn(n, round, worker);
    return source < 0 ? edge{} : edge{source, kept(n, round, source)};
  }
  static constexpr double kept(int n, std::int64_t round, int worker) {
    int receivers = n == 1 ? 0 : 1;
    for (int other = 0; other < n; ++other) receivers += drawn(n, round, other) == worker ? 1 : 0;
    return 1.0 / (1 + receivers);
  }

 private:
  static constexpr int before(int n, int worker) { return n == 1 ? -1 : detail::worker_before(n, worker, 1); }
  /// The random worker that sends to another one, or -1 if none does.
  static constexpr int drawn(int n, std::int64_t round, int worker) {
    std::uint64_t const key = detail::scrambled(Seed, static_cast<std::uint64_t>(round));
    std::uint64_t const number = detail::scrambled(key, static_cast<std::uint64_t>(worker));
    int const source = static_cast<int>((number >> 8) % static_cast<std::uint64_t>(n));
    bool const sends = number % 2 == 0 && source != worker && source != before(n, worker);
    return sends ? source : -1;
  }
};

}  // namespace meshtensor
