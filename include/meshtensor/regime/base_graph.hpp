// SPDX-License-Identifier: Apache-2.0
// The Base-(k+1) graph: all of any number of workers have the exact mean after one period, with at most k messages each
// a round.
#pragma once

#include "meshtensor/regime/topology.hpp"

namespace meshtensor {

namespace detail {

/// The peers of one worker in one round, all with the same weight.
struct peers {
  int count = 0;
  double weight = 0;
  int first = 0, stride = 0;  // of a list of `size` workers
  int size = 1, own = -1;     // the position of the worker itself, or -1 if it is not in the list

  constexpr int operator[](int k) const { return first + (own + 1 + k) % size * stride; }
  /// All members of a list but the worker itself. Each of them gets the mean of the list.
  static constexpr peers of_clique(int first, int stride, int size, int own) {
    return {size - 1, 1.0 / size, first, stride, size, own};
  }
};

/// Workers whose numbers have several digits, where workers that differ in one digit exchange their values in a round.
/// The digits are factors of n, at most `most`.
struct hyper_hypercube {
  /// The largest divisor of n that is at most `most`.
  static constexpr int factor(int n, int most) {
    for (int f = most; f > 1; --f)
      if (n % f == 0) return f;
    return 1;
  }
  static constexpr int rounds(int n, int most) {
    int count = 0;
    while (n > 1) n /= factor(n, most), ++count;
    return count;
  }
  static constexpr peers of(int n, int most, int round, int worker) {
    int stride = 1;
    for (; round > 0; --round) {
      int const f = factor(n, most);
      stride *= f, n /= f;
    }
    int const size = factor(n, most), own = worker / stride % size;
    return peers::of_clique(worker - own * stride, stride, size, own);
  }
};

/// The simple form of the graph. Workers are split by the digits of n to the base `most`: a_1 parts of q_1 workers, a_2
/// of q_2 and so on. The numbers q_1 > q_2 > … are powers of the base. The workers of each digit first find their mean.
/// Then digit after digit exchanges values with all later ones, so that each of its parts has the mean of all. Its
/// workers find this mean next.
struct simple_base_graph {
  int most;

  struct digit {
    int first, parts, size, exponent;  // the first worker; how many parts, of how many workers each, a power of `most`
    constexpr int all() const { return parts * size; }
  };
  /// The digit `which` of n, the highest first, or one without parts behind the last.
  constexpr digit digit_of(int n, int which) const {
    int first = 0;
    while (true) {
      digit d{first, 0, 1, 0};
      int const rest = n - first;
      if (rest == 0) return d;
      while (d.size <= rest / most) d.size *= most, ++d.exponent;
      d.parts = rest / d.size;
      if (which-- == 0) return d;
      first += d.all();
    }
  }
  constexpr bool is_smooth(int n) const {
    while (n > 1) {
      int const f = hyper_hypercube::factor(n, most);
      if (f == 1) return false;
      n /= f;
    }
    return true;
  }
  constexpr int rounds_of_means(digit const& highest) const { return highest.exponent + (highest.parts > 1 ? 1 : 0); }
  constexpr int rounds(int n) const {
    if (is_smooth(n)) return hyper_hypercube::rounds(n, most);
    digit const highest = digit_of(n, 0);
    return rounds_of_means(highest) + 1 + highest.exponent;
  }

  constexpr peers of(int n, int round, int worker) const {
    if (is_smooth(n)) return hyper_hypercube::of(n, most, round, worker);
    int const means = rounds_of_means(digit_of(n, 0));
    int which = 0;
    digit own = digit_of(n, 0);
    while (worker >= own.first + own.all()) own = digit_of(n, ++which);
    if (round < means) return mean_of_parts(own, round, worker, true);
    int const exchange = round - means;  // the digit that exchanges values with all later ones in this round
    if (exchange > which) return mean_of_parts(own, exchange - which - 1, worker, false);
    digit const d = exchange == which ? own : digit_of(n, exchange);
    int const later = n - d.first - d.all();
    double const weight = static_cast<double>(d.size) / (n - d.first);
    if (exchange < which) return {d.parts, weight, worker - d.all(), d.size, d.parts, -1};
    int const place = (worker - d.first) % d.size;
    return place < later ? peers{1, weight, d.first + d.all() + place, 0, 1, -1} : peers{};
  }

 private:
  /// A round in which the workers of each part find their mean and, after those, the parts of the digit if `all`.
  constexpr peers mean_of_parts(digit const& d, int round, int worker, bool all) const {
    int const place = worker - d.first;
    if (round < d.exponent) {
      int stride = 1;
      for (int k = 0; k < round; ++k) stride *= most;
      int const own = place / stride % most;
      return peers::of_clique(worker - own * stride, stride, most, own);
    }
    if (!all || round > d.exponent || d.parts == 1) return {};
    return peers::of_clique(d.first + place % d.size, d.size, d.parts, place / d.size);
  }
};

}  // namespace detail

/// The Base-(k+1) graph, where k is `Peers`. Each worker exchanges values with at most k others in a round. All workers
/// have the exact mean after one period, which has at most 2 log(n) / log(k + 1) + 2 rounds, for any n.
///
/// source  Takezawa et al. 2023, arXiv:2305.11420: algorithms 1 to 3
template <int Peers>
struct base_graph {
  static_assert(Peers > 0, "meshtensor G49: base_graph<k>: each replica needs at least one peer");

  static constexpr int period(int n) {
    int const rounds = is_split(n) ? simple.rounds(rough(n)) + smooth_rounds(n) : simple.rounds(n);
    return rounds == 0 ? 1 : rounds;
  }
  static constexpr int slots(int) { return Peers; }
  static constexpr edge incoming(int n, std::int64_t round, int worker, int slot) {
    detail::peers const p = peers_of(n, detail::round_of(round, period(n)), worker);
    return slot < p.count ? edge{p[slot], p.weight} : edge{};
  }
  static constexpr double kept(int n, std::int64_t round, int worker) {
    detail::peers const p = peers_of(n, detail::round_of(round, period(n)), worker);
    return 1 - p.count * p.weight;
  }

 private:
  static constexpr detail::simple_base_graph simple{Peers + 1};

  /// The part of n without prime factors that are at most k + 1.
  static constexpr int rough(int n) {
    for (int f = 2; f <= Peers + 1; ++f)
      while (n % f == 0) n /= f;
    return n;
  }
  static constexpr int smooth_rounds(int n) { return detail::hyper_hypercube::rounds(n / rough(n), Peers + 1); }
  /// Whether groups of rough(n) workers that find their mean before the groups exchange theirs need fewer rounds.
  static constexpr bool is_split(int n) {
    return rough(n) != n && simple.rounds(rough(n)) + smooth_rounds(n) < simple.rounds(n);
  }
  static constexpr detail::peers peers_of(int n, int round, int worker) {
    if (n == 1) return {};
    if (!is_split(n)) return simple.of(n, round, worker);
    int const size = rough(n), group = worker / size, place = worker % size, inside = simple.rounds(size);
    detail::peers p = round < inside ? simple.of(size, round, place)
                                     : detail::hyper_hypercube::of(n / size, Peers + 1, round - inside, group);
    if (round < inside) p.first += group * size;
    else p.first = p.first * size + place, p.stride *= size;
    return p;
  }
};

}  // namespace meshtensor
