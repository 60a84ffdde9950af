// SPDX-License-Identifier: Apache-2.0
// A topology: the messages of n workers in each round, their weights, and the shares that the workers keep.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace meshtensor {

/// A message of one round: the worker from which it comes, and the share of that worker's value that arrives. No
/// message comes if the source is -1.
struct edge {
  int source = -1;
  double weight = 0;
};

/// An empty type whose functions say which messages n workers exchange. All that a worker sends and keeps of its value
/// sums to 1, and none is left with nothing. A topology needs no more than that, so that its receivers need not have
/// equal numbers of messages. For example, this one sends half of each value to the next worker:
///
///     struct onward {
///       static constexpr int period(int) { return 1; }  // rounds after which it repeats, or 0 if it never does
///       static constexpr int slots(int) { return 1; }   // the most messages that a worker gets in a round
///       static constexpr mt::edge incoming(int n, std::int64_t round, int worker, int slot) {
///         return {(worker + n - 1) % n, 0.5};
///       }
///       static constexpr double kept(int n, std::int64_t round, int worker) { return 0.5; }
///     };
///
/// If `slots` depends on n, the number of workers must be known when the program is compiled.
///
/// Under `compressed`, a worker keeps a public copy of its parameters for each round of a period. A topology without a
/// period may say which copies there are, by `copies(n)`, and which of them a worker changes in a round, by `copy(n,
/// round, worker)`, from 0 on. A worker and its receivers must change the same copies in the same rounds. In all rounds
/// in which a worker changes the same copy, it must have the same messages. `check_topology` looks at this.
template <class T>
concept topology = std::is_empty_v<T> && std::default_initializable<T> && requires(int n, std::int64_t round) {
  { T::period(n) } -> std::same_as<int>;
  { T::slots(n) } -> std::same_as<int>;
  { T::incoming(n, round, n, n) } -> std::same_as<edge>;
  { T::kept(n, round, n) } -> std::same_as<double>;
};

namespace detail {

/// The number of slots for n workers, or -1 if the compiler cannot compute it. A table of four workers may have none
/// for others.
template <class T, int N>
inline constexpr int slots_of = [] {
  if constexpr (requires { typename std::integral_constant<int, T::slots(N)>; }) return T::slots(N);
  else return -1;
}();
/// The number of slots for any number of workers, or -1 if it depends on their number. The compiler looks at up to 33
/// workers, and the first step at their actual number.
template <class T>
inline constexpr int slots_of_any = []<int... Less>(std::integer_sequence<int, Less...>) {
  int common = -1;
  bool vary = false;
  ((slots_of<T, Less + 1> < 0
        ? void()
        : void((vary = vary || (common >= 0 && common != slots_of<T, Less + 1>), common = slots_of<T, Less + 1>))),
   ...);
  return vary ? -1 : common;
}(std::make_integer_sequence<int, 33>{});
template <class T>
concept names_copies = requires(int n, std::int64_t round) {
  { T::copies(n) } -> std::same_as<int>;
  { T::copy(n, round, n) } -> std::same_as<int>;
};
/// The number of public copies that each worker needs, or 0 if the topology does not say it.
template <class T>
constexpr int copies_of(int n) {
  if constexpr (names_copies<T>) return T::copies(n);
  else return T::period(n);
}
/// The least k for which 2^k is at least n.
constexpr int rounds_of_doubling(int n) { return n < 2 ? 0 : std::bit_width(static_cast<unsigned>(n - 1)); }
/// The worker `hops` before another one on a ring of n.
constexpr int worker_before(int n, int worker, int hops) { return (worker - hops % n + n) % n; }
/// A number that depends on all bits of both.
constexpr std::uint64_t scrambled(std::uint64_t key, std::uint64_t x) {
  x += key * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/// The position of a round in a period.
constexpr int round_of(std::int64_t round, int period) { return static_cast<int>((round % period + period) % period); }
/// The public copy that a worker changes in a round.
template <class T>
constexpr int copy_in(int n, std::int64_t round, int worker) {
  if constexpr (names_copies<T>) return T::copy(n, round, worker);
  else return round_of(round, T::period(n));
}

}  // namespace detail
}  // namespace meshtensor
