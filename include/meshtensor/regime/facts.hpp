// SPDX-License-Identifier: Apache-2.0
// Computes facts of a topology for n workers: whether it keeps the sum of their values, when it has connected all of
// them, and their distance from the mean.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/regime/topology.hpp"

namespace meshtensor {

/// Facts of a topology for some number of workers.
struct mixing_facts {
  int workers = 0;
  bool repeats = true;     // whether it has a period. Otherwise its first rounds count
  int rounds = 0;          // the rounds that were looked at: a period, or the first ones
  int faulty_worker = -1;  // a worker whose shares, sent and kept, do not sum to 1, or -1
  std::int64_t faulty_round = 0;
  double faulty_sum = 1;
  int connected_after = 0;  // the rounds after which a path of messages leads from each worker to each other one, or -1
  double deviation = 0;     // after `rounds`: the largest difference from 1/n of a worker's share in another one
};

namespace detail {

/// The number of rounds that are looked at: a period or, without one, the first rounds.
template <topology T>
constexpr int rounds_to_check(int n) {
  return T::period(n) != 0 ? T::period(n) : 2 * rounds_of_doubling(n) + 4;
}
/// The number of rounds in which a topology must connect all workers. Random rounds may leave a worker alone for long,
/// so there are many of them.
template <topology T>
constexpr int rounds_to_connect(int n) {
  return T::period(n) != 0 ? T::period(n) : 16 * rounds_of_doubling(n) + 64;
}

/// Calls f(worker, edge) for all messages of a round.
template <topology T, class F>
constexpr void each_message(int n, std::int64_t round, F f) {
  for (int worker = 0; worker < n; ++worker)
    for (int slot = 0; slot < T::slots(n); ++slot)
      if (edge const e = T::incoming(n, round, worker, slot); e.source >= 0 && e.source < n) f(worker, e);
}

/// Finds a worker whose value is lost or multiplied.
template <topology T>
constexpr void find_sums(mixing_facts& f) {
  int const n = f.workers;
  for (int round = 0; round < f.rounds && f.faulty_worker < 0; ++round) {
    std::vector<double> sums(static_cast<std::size_t>(n), 0.0);
    for (int i = 0; i < n; ++i) sums[static_cast<std::size_t>(i)] = T::kept(n, round, i);
    each_message<T>(n, round, [&](int, edge const& e) { sums[static_cast<std::size_t>(e.source)] += e.weight; });
    for (int i = 0; i < n && f.faulty_worker < 0; ++i) {
      double const sum = sums[static_cast<std::size_t>(i)];
      if (!(sum > 1 - 1e-12 && sum < 1 + 1e-12)) f.faulty_worker = i, f.faulty_round = round, f.faulty_sum = sum;
    }
  }
}

/// The workers that worker 0 reaches by the messages so far.
class reached_workers {
 public:
  constexpr explicit reached_workers(int n) : left_(n - 1) {
    // One by one, because at -O2 g++ 12 warns of a vector that is filled as a whole.
    for (int i = 0; i < n; ++i) reached_.push_back(i == 0 ? char{1} : char{0});
  }
  constexpr void add(int from, int to) {
    if (!has(to)) messages_.push_back({from, to});
  }
  /// Follows the messages. Those to workers that are reached are not needed any more.
  constexpr bool reach_all() {
    for (bool more = true; more;) {
      more = false;
      std::size_t kept = 0;
      for (auto const& message : messages_) {
        auto const [from, to] = message;
        if (has(to)) continue;
        if (has(from)) reached_[static_cast<std::size_t>(to)] = 1, --left_, more = true;
        else messages_[kept++] = message;
      }
      messages_.resize(kept);
    }
    return left_ == 0;
  }

 private:
  constexpr bool has(int worker) const { return reached_[static_cast<std::size_t>(worker)] != 0; }

  int left_;  // how many are not reached
  std::vector<char> reached_{};
  std::vector<std::pair<int, int>> messages_{};
};
/// Finds the round in which worker 0 has reached all workers, and all have reached it.
template <topology T>
constexpr void find_connection(mixing_facts& f) {
  int const n = f.workers;
  f.connected_after = n == 1 ? 0 : -1;
  reached_workers from_first(n), to_first(n);
  for (int round = 0; round < rounds_to_connect<T>(n) && f.connected_after < 0; ++round) {
    each_message<T>(
        n, round, [&](int worker, edge const& e) { from_first.add(e.source, worker), to_first.add(worker, e.source); });
    bool const reaches = from_first.reach_all(), is_reached = to_first.reach_all();
    if (reaches && is_reached) f.connected_after = round + 1;
  }
}

/// The share of the value of each worker (the column) that each worker (the row) has after some rounds.
template <topology T>
constexpr std::vector<double> shares_after(int n, int rounds) {
  auto const at = [n](int row, int column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(n) + static_cast<std::size_t>(column);
  };
  std::vector<double> shares(at(n, 0), 0.0), next(at(n, 0), 0.0);
  for (int i = 0; i < n; ++i) shares[at(i, i)] = 1;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k) next[at(i, k)] = T::kept(n, round, i) * shares[at(i, k)];
    each_message<T>(n, round, [&](int worker, edge const& e) {
      for (int k = 0; k < n; ++k) next[at(worker, k)] += e.weight * shares[at(e.source, k)];
    });
    std::swap(shares, next);
  }
  return shares;
}
/// The largest difference of a share from 1/n.
constexpr double deviation_of(std::vector<double> const& shares, int n) {
  double most = 0;
  for (double const share : shares) {
    double const off = share - 1.0 / n;
    most = std::max(most, off < 0 ? -off : off);
  }
  return most;
}

/// Adds a number with six decimals.
constexpr diagnostic& add_decimals(diagnostic& d, double number) {
  if (number != number) return d << "NaN";
  if (number > 1e12 || number < -1e12) return d << (number > 0 ? "more than 10^12" : "less than -10^12");
  if (number < 0) d << "-", number = -number;
  auto const millionths = static_cast<long long>(number * 1e6 + 0.5);
  d << millionths / 1000000 << ".";
  for (long long digit = 100000; digit > 0; digit /= 10) d << millionths / digit % 10;
  return d;
}

/// The facts without the deviation, whose cost is quadratic in the number of workers.
template <topology T>
constexpr mixing_facts facts_without_deviation(int n) {
  mixing_facts f;
  f.workers = n, f.repeats = T::period(n) != 0, f.rounds = rounds_to_check<T>(n);
  find_sums<T>(f);
  find_connection<T>(f);
  return f;
}

}  // namespace detail

/// The facts of a topology for n workers: `facts_of<mt::ring>(8).deviation`. Without a worker there are none.
template <topology T>
constexpr mixing_facts facts_of(int n) {
  if (n < 1) return {};
  mixing_facts f = detail::facts_without_deviation<T>(n);
  f.deviation = detail::deviation_of(detail::shares_after<T>(n, f.rounds), n);
  return f;
}

/// One sentence, for example `replicas: 6, all are connected after 3 rounds, and after 3 rounds the shares of values
/// differ from 1/6 by up to 0.083333`.
inline std::string text_of(mixing_facts const& f) {
  std::string const rounds = std::to_string(f.rounds) + (f.rounds == 1 ? " round" : " rounds");
  std::string text = "replicas: " + std::to_string(f.workers);
  if (f.workers < 1) return text;
  if (f.faulty_worker >= 0) text += ", the sum of values is not kept";
  text += f.connected_after < 0 ? ", not all are connected"
                                : ", all are connected after " + std::to_string(f.connected_after) +
                                      (f.connected_after == 1 ? " round" : " rounds");
  if (f.deviation < 1e-12) return text + ", and after " + rounds + " all have the exact mean";
  diagnostic d{};
  detail::add_decimals(d, f.deviation);
  return text + ", and after " + rounds + " the shares of values differ from 1/" + std::to_string(f.workers) +
         " by up to " + std::string(d.view());
}

}  // namespace meshtensor
