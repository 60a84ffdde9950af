// SPDX-License-Identifier: Apache-2.0
// Finds the error of a topology for n workers: a sum that is not kept, a negative share, a worker that is left with
// nothing, a wrong period, workers that are never connected, or wrong public copies.
#pragma once

#include <utility>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/regime/copy_facts.hpp"
#include "meshtensor/regime/facts.hpp"

namespace meshtensor {
namespace detail {

template <topology T>
constexpr diagnostic& begin_error(diagnostic& d, int n) {
  return d << "G49 the topology " << topology_name<T>() << " of " << n << " replicas";
}

/// The share of the value of `source` that a worker gets by messages in a round.
template <topology T>
constexpr double received_share(int n, std::int64_t round, int worker, int source) {
  double sum = 0;
  for (int slot = 0; slot < T::slots(n); ++slot)
    if (edge const e = T::incoming(n, round, worker, slot); e.source == source) sum += e.weight;
  return sum;
}

/// Whether all replicas come to the mean after many periods. It squares the matrix of a period until the answer is
/// sure: the rows and columns sum to 1, so a power that differs from 1/n by less than 1/n is a contraction.
template <topology T>
constexpr bool converges(int n, int period) {
  auto const size = static_cast<std::size_t>(n);
  std::vector<double> shares = shares_after<T>(n, period);
  for (int squarings = 0; squarings < 20; ++squarings) {
    double const off = deviation_of(shares, n);
    if (off * n < 0.5) return true;
    if (!(off < 1e6)) return false;
    std::vector<double> square(size * size, 0.0);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t k = 0; k < size; ++k)
        for (std::size_t j = 0; j < size; ++j) square[i * size + j] += shares[i * size + k] * shares[k * size + j];
    std::swap(shares, square);
  }
  return false;
}

/// Finds the first share that is negative. It may be so if replicas come to the mean all the same, and if the rows sum
/// to 1, so that the weights of push-sum stay 1.
/// source  Xiao and Boyd 2004, Fast linear iterations for distributed averaging
template <topology T>
constexpr bool find_negative_share(diagnostic& d, int n, int rounds) {
  for (int round = 0; round < rounds && d.empty(); ++round)
    for (int worker = 0; worker < n && d.empty(); ++worker)
      for (int slot = -1; slot < T::slots(n) && d.empty(); ++slot) {
        edge const e = slot < 0 ? edge{worker, T::kept(n, round, worker)} : T::incoming(n, round, worker, slot);
        if (e.source < 0 || e.weight >= 0) continue;
        begin_error<T>(d, n) << ": replica " << e.source << (slot < 0 ? " keeps " : " sends ");
        add_decimals(d, e.weight) << " of its value ";
        if (slot >= 0) d << "to replica " << worker << " ";
        d << "in round " << round << ". ";
      }
  if (d.empty()) return false;
  if (T::period(n) == 0) {
    d << "Negative shares need a period, because replicas may diverge: make no share negative";
    return true;
  }
  for (int round = 0; round < rounds; ++round)
    for (int worker = 0; worker < n; ++worker) {
      double sum = T::kept(n, round, worker);
      for (int slot = 0; slot < T::slots(n); ++slot)
        if (edge const e = T::incoming(n, round, worker, slot); e.source >= 0) sum += e.weight;
      if (sum > 1 - 1e-12 && sum < 1 + 1e-12) continue;
      d << "If a share is negative, then what each replica keeps and receives must also sum to 1, because the weights "
           "of "
           "push-sum may become 0 otherwise. That of replica "
        << worker << " in round " << round << " sums to ";
      add_decimals(d, sum);
      return true;
    }
  if (converges<T>(n, rounds)) d = {};
  else d << "By these shares replicas diverge from each other: make them less negative";
  return !d.empty();
}
/// Finds a worker that keeps and receives nothing. A replica would divide its parameters by a weight of 0.
template <topology T>
constexpr bool find_emptied_worker(diagnostic& d, int n, int rounds) {
  for (int round = 0; round < rounds; ++round)
    for (int worker = 0; worker < n; ++worker) {
      bool has_some = T::kept(n, round, worker) != 0;
      for (int slot = 0; slot < T::slots(n) && !has_some; ++slot) {
        edge const e = T::incoming(n, round, worker, slot);
        has_some = e.source >= 0 && e.weight != 0;
      }
      if (has_some) continue;
      begin_error<T>(d, n) << ": replica " << worker << " keeps and receives nothing in round " << round
                           << ", so it has no parameters: let it keep a share";
      return true;
    }
  return false;
}

/// Whether a worker has other messages in two rounds. Their order may differ.
template <topology T>
constexpr bool messages_differ(int n, std::int64_t a, std::int64_t b, int worker) {
  auto const differ = [](double x, double y) { return !(x - y < 1e-12 && y - x < 1e-12); };
  bool in_order = true;
  for (int slot = 0; slot < T::slots(n); ++slot) {
    edge const x = T::incoming(n, a, worker, slot), y = T::incoming(n, b, worker, slot);
    bool const is_none = x.source < 0 && y.source < 0;
    in_order = in_order && (is_none || (x.source == y.source && !differ(x.weight, y.weight)));
  }
  if (differ(T::kept(n, a, worker), T::kept(n, b, worker))) return true;
  for (int slot = 0; !in_order && slot < T::slots(n); ++slot)
    for (std::int64_t const round : {a, b}) {
      int const source = T::incoming(n, round, worker, slot).source;
      if (source >= 0 && differ(received_share<T>(n, a, worker, source), received_share<T>(n, b, worker, source)))
        return true;
    }
  return false;
}
/// Finds a worker whose messages do not repeat after a period. It looks two periods further.
template <topology T>
constexpr bool find_period(diagnostic& d, int n, int period) {
  for (std::int64_t round = 0; round < 2 * period; ++round)
    for (int worker = 0; worker < n; ++worker)
      if (messages_differ<T>(n, round, round + period, worker)) {
        begin_error<T>(d, n) << ": period(" << n << ") is " << period << ", but replica " << worker
                             << " has other messages in round " << round + period << " than in round " << round
                             << ": give the number of rounds after which all messages repeat, or 0 if they never do";
        return true;
      }
  return false;
}

}  // namespace detail

/// The error of a topology for n workers, or nothing: it loses or multiplies a value, leaves a worker with nothing,
/// diverges by negative shares, does not repeat after its period, never connects some workers, or names public copies
/// that do not follow its messages. `text_of(check_topology<T>(n))` is the sentence.
template <topology T>
constexpr diagnostic check_topology(int n) {
  diagnostic d{};
  if (n < 1) return detail::begin_error<T>(d, n) << ": give at least one replica";
  mixing_facts const f = detail::facts_without_deviation<T>(n);
  if (f.faulty_worker >= 0) {
    detail::begin_error<T>(d, n) << " does not keep the sum of values: what replica " << f.faulty_worker
                                 << " sends and keeps in round " << f.faulty_round << " sums to ";
    detail::add_decimals(d, f.faulty_sum) << ", and must sum to 1";
  } else if (!detail::find_emptied_worker<T>(d, n, f.rounds) && !detail::find_negative_share<T>(d, n, f.rounds) &&
             !(f.repeats && detail::find_period<T>(d, n, f.rounds))) {
    if (f.connected_after >= 0) return detail::check_copies<T>(n, f.repeats ? 2 * f.rounds : f.rounds);
    int const rounds = detail::rounds_to_connect<T>(n);
    detail::begin_error<T>(d, n) << " does not connect all of them within " << rounds
                                 << (rounds == 1 ? " round" : " rounds") << (f.repeats ? ", its period" : "")
                                 << ": let more replicas exchange messages";
  }
  return d;
}

}  // namespace meshtensor
