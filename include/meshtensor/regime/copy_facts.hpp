// SPDX-License-Identifier: Apache-2.0
// Checks the public copies that a topology names: workers that exchange a message must change their copies in the same
// rounds.
#pragma once

#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/regime/topology.hpp"

namespace meshtensor::detail {

/// A topology that has one public copy for any number of workers. It is an error if its rounds differ.
template <topology T>
struct one_copy : T {
  using topology_inside = T;
  static constexpr int copies(int) { return 1; }
  static constexpr int copy(int, std::int64_t, int) { return 0; }
};

/// The name of a topology for errors and labels.
template <topology T>
constexpr name topology_name() {
  if constexpr (requires { typename T::topology_inside; }) return type_name<typename T::topology_inside>();
  else return type_name<T>();
}

/// The messages of some rounds, and the public copies that workers change there.
template <topology T>
class copies_of_rounds {
 public:
  constexpr copies_of_rounds(int workers, int rounds) : n_(workers), rounds_(rounds), slots_(T::slots(workers)) {
    for (int round = 0; round < rounds_; ++round)
      for (int worker = 0; worker < n_; ++worker) {
        copies_.push_back(T::copy(n_, round, worker));
        kept_.push_back(T::kept(n_, round, worker));
        for (int slot = 0; slot < slots_; ++slot) messages_.push_back(T::incoming(n_, round, worker, slot));
      }
  }

  /// The error, or nothing.
  /// errors  G49
  constexpr diagnostic error() const {
    diagnostic d{};
    for (int round = 0; round < rounds_; ++round)
      for (int worker = 0; worker < n_; ++worker) {
        int const copy = copy_of(round, worker), count = T::copies(n_);
        if (copy >= 0 && copy < count) continue;
        begin(d) << "replica " << worker << " changes public copy " << copy << " in round " << round << ", but "
                 << "copies(n) is " << count;
        return d;
      }
    for (int worker = 0; worker < n_; ++worker)
      for (int a = 0; a < rounds_; ++a)
        for (int b = 0; b < rounds_; ++b)
          if (a != b && find(d, worker, a, b)) return d;
    return d;
  }

 private:
  constexpr std::size_t at(int round, int worker) const {
    return static_cast<std::size_t>(round) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(worker);
  }
  constexpr int copy_of(int round, int worker) const { return copies_[at(round, worker)]; }
  constexpr edge message(int round, int worker, int slot) const {
    return messages_[at(round, worker) * static_cast<std::size_t>(slots_) + static_cast<std::size_t>(slot)];
  }
  constexpr bool changes_same(int worker, int a, int b) const { return copy_of(a, worker) == copy_of(b, worker); }
  /// The share of the value of `source` that a worker has after a round.
  constexpr double share(int round, int worker, int source) const {
    double sum = worker == source ? kept_[at(round, worker)] : 0;
    for (int slot = 0; slot < slots_; ++slot)
      if (edge const e = message(round, worker, slot); e.source == source) sum += e.weight;
    return sum;
  }

  constexpr diagnostic& begin(diagnostic& d) const {
    return d << "G49 the topology " << topology_name<T>() << " of " << n_ << " replicas: ";
  }
  /// Finds an error of a worker in two rounds.
  constexpr bool find(diagnostic& d, int worker, int a, int b) const {
    bool const same = changes_same(worker, a, b);
    bool has_same_share = share(a, worker, worker) == share(b, worker, worker);
    for (int slot = 0; slot < slots_; ++slot) {
      int const source = message(a, worker, slot).source;
      if (source < 0 || source >= n_) continue;
      has_same_share = has_same_share && share(a, worker, source) == share(b, worker, source);
      if (changes_same(source, a, b) == same) continue;
      begin(d) << "replica " << worker << " has a message of replica " << source << " in round " << a << ", and one of "
               << "the two changes the same public copy in round " << b << ", but the other does not: replicas forget "
               << "what they know of each other";
      return true;
    }
    if (!same || has_same_share) return false;
    begin(d) << "replica " << worker << " changes the same public copy in the rounds " << a << " and " << b
             << ", but has other messages there: rounds with other messages need other copies";
    return true;
  }

  int n_, rounds_, slots_;
  std::vector<int> copies_{};
  std::vector<double> kept_{};
  std::vector<edge> messages_{};
};

/// The error of the public copies that a topology names, or nothing if it names none.
template <topology T>
constexpr diagnostic check_copies(int n, int rounds) {
  if constexpr (names_copies<T>) return copies_of_rounds<T>(n, rounds).error();
  else return {};
}

}  // namespace meshtensor::detail
