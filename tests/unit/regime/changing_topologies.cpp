// SPDX-License-Identifier: Apache-2.0
// Compressed gossip on topologies whose messages differ from round to round, beside its algorithm on the host: there,
// each sender has a public copy for each replica to which it ever sends.
// passes: start-up
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "meshtensor/nn/nn.hpp"
#include "meshtensor/regime/regime.hpp"
#include "unit/op/trial.hpp"

namespace {

namespace mt = meshtensor;
using trial::numbers_of, trial::program;
using numbers = std::vector<double>;
using values = std::vector<numbers>;  // of each replica

template <int N>
struct replica_dim : mt::dim<"replica", N> {};
inline constexpr struct in_dim : mt::dim<"in", 2> {} in;
inline constexpr struct out_dim : mt::dim<"out", 3> {} out;
constexpr std::size_t size = 6;

/// A program whose step adds an input to its parameter.
struct drift {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", in, out);
    s.update(w, w + s.input("x", s.real(), in, out));
  }
};
template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};
template <int N, class Policy>
using training = in_f64<mt::replicas<drift, replica_dim<N>{}, Policy>>;

numbers drawn(std::size_t count, std::uint64_t seed) {
  trial::stream s{seed};
  numbers all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(s.between(-1, 1));
  return all;
}
using compression = std::function<numbers(numbers const&)>;
numbers largest(numbers const& x) {
  std::size_t most = 0;
  for (std::size_t k = 1; k < x.size(); ++k)
    if (std::abs(x[k]) > std::abs(x[most])) most = k;
  numbers y(x.size());
  y[most] = x[most];
  return y;
}
compression rounded(int bits) {
  return [=](numbers const& x) {
    double most = 0;
    for (double const one : x) most = std::max(most, std::abs(one));
    double const scale = most / ((1 << (bits - 1)) - 1);
    numbers y = x;
    for (double& one : y) one = scale == 0 ? 0 : std::floor(one / scale + 0.5) * scale;
    return y;
  };
}

/// Replicas of which each has one receiver, or none, in each round.
struct gossip {
  int n;
  compression compress;
  double step;
  std::map<std::pair<int, int>, numbers> copies{};  // by senders and receivers. A replica without one sends to itself

  /// A round, in which x ← x + step · (Σ weight · x̂ - x̂).
  template <mt::topology T>
  values mixed(values const& x, int round) {
    std::vector<int> to(x.size());
    std::iota(to.begin(), to.end(), 0);
    for (int i = 0; i < n; ++i)
      if (int const from = T::incoming(n, round, i, 0).source; from >= 0) to[static_cast<std::size_t>(from)] = i;
    std::vector<numbers*> sent;
    for (std::size_t i = 0; i < x.size(); ++i) {
      numbers& copy = copies[{static_cast<int>(i), to[i]}];
      copy.resize(size);
      numbers change(size);
      for (std::size_t k = 0; k < size; ++k) change[k] = x[i][k] - copy[k];
      change = compress(change);
      for (std::size_t k = 0; k < size; ++k) copy[k] += change[k];
      sent.push_back(&copy);
    }
    values next = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mt::edge const e = T::incoming(n, round, static_cast<int>(i), 0);
      for (std::size_t k = 0; k < size; ++k) {
        double sum = T::kept(n, round, static_cast<int>(i)) * (*sent[i])[k];
        if (e.source >= 0) sum += e.weight * (*sent[static_cast<std::size_t>(e.source)])[k];
        next[i][k] += step * (sum - (*sent[i])[k]);
      }
    }
    return next;
  }
};

template <int N, class Policy>
program started(numbers const& start) {
  program p = program::of<training<N, Policy>>();
  p.fill("x", numbers(N * size));
  p.run();
  p.settings.step = 0;
  for (auto& [path, b] : p.variables)
    for (std::int64_t i = 0; i < b.size(); ++i)
      b.set(i, path == "w" ? start[static_cast<std::size_t>(i)] : path == "regime/push_sum_weight" ? 1 : 0);
  return p;
}
/// Compares the parameters after each step with those on the host. Replicas start with different values.
template <int N, class C, mt::topology T>
void compare(compression const& c) {
  INFO(N << " replicas");
  numbers const start = drawn(N * size, 3);
  program mixes = started<N, mt::compressed<C, mt::decentralized_sgd<T>>>(start);
  program pushes = started<N, mt::compressed<C, mt::stochastic_gradient_push<T>>>(start);
  gossip of_mixes{N, c, C::consensus_step}, of_pushes = of_mixes;
  values x(N), y(N);
  for (std::size_t i = 0; i < N; ++i) {
    auto const at = start.begin() + static_cast<std::ptrdiff_t>(i * size);
    x[i] = y[i] = numbers(at, at + size);
  }
  for (int step = 0; step < 12; ++step) {
    numbers const way = drawn(N * size, 50 + static_cast<std::uint64_t>(step));
    mixes.fill("x", way), mixes.run();
    pushes.fill("x", way), pushes.run();
    x = of_mixes.mixed<T>(x, step);
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t k = 0; k < size; ++k) x[i][k] += way[i * size + k], y[i][k] += way[i * size + k];
    y = of_pushes.mixed<T>(y, step);  // workers receive as much as they send, so all weights stay 1
    for (std::size_t i = 0; i < N * size; ++i) {
      auto const at = static_cast<std::int64_t>(i);
      CHECK(mixes.variables.at("w").number_at(at) == doctest::Approx(x[i / size][i % size]).epsilon(1e-10));
      CHECK(pushes.variables.at("w").number_at(at) == doctest::Approx(y[i / size][i % size]).epsilon(1e-10));
    }
  }
}
template <class C, mt::topology T>
void compare_all(compression const& c) {
  compare<2, C, T>(c), compare<3, C, T>(c), compare<4, C, T>(c), compare<6, C, T>(c), compare<8, C, T>(c);
}

/// Lets replicas gossip without steps of their own: no round changes the sum, and all reach the mean.
template <int N, class C, mt::topology T>
void check_sum(int steps) {
  INFO(N << " replicas");
  numbers const start = drawn(N * size, 11);
  program p = started<N, mt::compressed<C, mt::stochastic_gradient_push<T>>>(start);
  p.fill("x", numbers(N * size));
  numbers before(size);
  for (std::size_t i = 0; i < N * size; ++i) before[i % size] += start[i];
  auto const& w = p.variables.at("w");
  auto const& weight = p.variables.at("regime/push_sum_weight");
  double lost = 0;
  for (int step = 0; step < steps; ++step) {
    p.run();
    for (std::size_t k = 0; k < size; ++k) {
      double now = 0;
      for (std::size_t i = 0; i < N; ++i)
        now += w.number_at(static_cast<std::int64_t>(i * size + k)) * weight.number_at(static_cast<std::int64_t>(i));
      lost = std::max(lost, std::abs(now - before[k]));
    }
  }
  CHECK(lost < 1e-12 * N);
  for (std::size_t i = 0; i < N * size; ++i)
    CHECK(std::abs(w.number_at(static_cast<std::int64_t>(i)) - before[i % size] / N) < 1e-6);
}
template <class C, mt::topology T>
void check_sums(int steps) {
  check_sum<2, C, T>(steps), check_sum<3, C, T>(steps), check_sum<4, C, T>(steps);
  check_sum<6, C, T>(steps), check_sum<8, C, T>(steps);
}

/// Random matchings that name one copy for all peers.
struct one_for_all_peers : mt::random_matching<5> {
  static constexpr int copies(int) { return 1; }
  static constexpr int copy(int, std::int64_t, int) { return 0; }
};
/// Random matchings whose workers change a copy that belongs to themselves.
struct one_for_itself : mt::random_matching<5> {
  static constexpr int copy(int, std::int64_t, int worker) { return worker; }
};
/// Random matchings in which worker 0 tells two peers of one copy, and each of them has a copy for it.
struct one_for_two_peers : mt::random_matching<5> {
  static constexpr int copy(int n, std::int64_t round, int worker) {
    int const own = mt::random_matching<5>::copy(n, round, worker);
    return worker == 0 && own == 2 ? 1 : own;
  }
};
/// Worker 0 sends to worker 1 in two rounds of three, and changes one copy there. But worker 1 changes two.
struct two_for_one_sender {
  static constexpr int period(int) { return 3; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int, std::int64_t round, int worker, int) {
    return worker == (round % 3 == 2 ? 0 : 1) ? mt::edge{1 - worker, 0.5} : mt::edge{};
  }
  static constexpr double kept(int, std::int64_t round, int worker) {
    return worker == (round % 3 == 2 ? 1 : 0) ? 0.5 : 1;
  }
  static constexpr int copies(int) { return 3; }
  static constexpr int copy(int, std::int64_t round, int worker) {
    return static_cast<int>(worker == 0 ? round % 3 / 2 : round % 3);
  }
};
struct copies_out_of_range : mt::random_matching<5> {
  static constexpr int copies(int n) { return n - 1; }
};
/// A topology whose rounds are alike for up to 64 workers, but not for more.
struct alternates_beyond_64 {
  static constexpr int period(int n) { return n > 64 ? 2 : 1; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int n, std::int64_t round, int worker, int) {
    return n == 1 ? mt::edge{} : mt::edge{(worker + n - 1 - static_cast<int>(n > 64 ? round % 2 : 0)) % n, 0.5};
  }
  static constexpr double kept(int n, std::int64_t, int) { return n == 1 ? 1 : 0.5; }
};
inline constexpr struct any_replica_dim : mt::dim<"replica"> {} any_replica;

/// The largest difference of a parameter between replicas that have trained no more for a while.
template <class Policy>
double spread_after(int steps) {
  constexpr int n = 4;
  program p = started<n, Policy>(drawn(n * size, 17));
  for (int step = 0; step < steps; ++step) p.run();
  numbers const w = numbers_of(p.variables.at("w"));
  double most = 0;
  for (std::size_t i = 0; i < w.size(); ++i) most = std::max(most, std::abs(w[i] - w[i % size]));
  return most;
}
template <class First, class Then>
using changes_over = mt::by_step<mt::first_steps<7>, First, Then>;
template <class T>
using push = mt::compressed<mt::quantized<8>, mt::stochastic_gradient_push<T>>;

}  // namespace

TEST_CASE("two topologies have public copies of their own, whatever their numbers") {
  using one_peer = mt::one_peer_exponential;
  CHECK(spread_after<push<mt::ring>>(400) < 1e-12);
  CHECK(spread_after<changes_over<push<mt::ring>, push<mt::directed_ring>>>(400) < 1e-12);
  CHECK(spread_after<changes_over<push<mt::ring>, push<one_peer>>>(400) < 1e-12);
  CHECK(spread_after<changes_over<push<one_peer>, push<mt::random_matching<1>>>>(400) < 1e-12);
  using pushes =
      changes_over<mt::stochastic_gradient_push<one_peer>, mt::stochastic_gradient_push<mt::bipartite_exponential>>;
  CHECK(spread_after<mt::compressed<mt::quantized<8>, pushes>>(400) < 1e-12);
  using in_turn = mt::by_step<mt::every_nth_step<3>, push<mt::ring>, push<mt::directed_ring>>;
  CHECK(spread_after<in_turn>(400) < 1e-12);
  using with_many_rounds = mt::by_step<mt::every_nth_step<2>, push<one_peer>, push<mt::random_matching<1>>>;
  CHECK(spread_after<with_many_rounds>(400) < 1e-12);
}
TEST_CASE("topologies whose types differ have states that differ, and compilers spell them alike") {
  auto const label = []<class T>(T) { return mt::detail::label_of<T>(true).text(); };
  CHECK(label(mt::ring{}).starts_with("ring_"));
  CHECK(label(mt::random_matching<5>{}).starts_with("random_matching_"));
  CHECK(label(mt::random_matching<5>{}) != label(mt::random_matching<6>{}));
}
TEST_CASE("public copies that do not follow the messages are refused") {
  CHECK(mt::check_topology<one_for_all_peers>(2).empty());
  CHECK(
      mt::check_topology<one_for_all_peers>(4).view() ==
      "G49 the topology one_for_all_peers of 4 replicas: replica 0 changes the same public copy in the rounds 0 and 2, "
      "but has other messages there: rounds with other messages need other copies");
  CHECK(mt::check_topology<one_for_itself>(4).view().find("other messages there") != std::string_view::npos);
  CHECK(mt::check_topology<one_for_two_peers>(4).view().find("one of the two changes the same public copy in round") !=
        std::string_view::npos);
  CHECK(mt::check_topology<two_for_one_sender>(2).view() ==
        "G49 the topology two_for_one_sender of 2 replicas: replica 1 has a message of replica 0 in round 0, and one "
        "of the "
        "two changes the same public copy in round 1, but the other does not: replicas forget what they know of each "
        "other");
  CHECK(mt::check_topology<copies_out_of_range>(4).view().find("changes public copy 3 in round") !=
        std::string_view::npos);
  for (int n = 1; n <= 64; n += n < 9 ? 1 : 11) CHECK(mt::check_topology<mt::random_matching<5>>(n).empty());
}
TEST_CASE("a topology whose rounds differ for many workers alone has as many copies as they need") {
  using of_few = mt::detail::public_copies<alternates_beyond_64, replica_dim<64>>;
  using of_many = mt::detail::public_copies<alternates_beyond_64, replica_dim<128>>;
  int const few = of_few::count, many = of_many::count;
  CHECK(few == 1);
  CHECK(many == 2);
  CHECK(of_many::has_dim);
  CHECK(mt::check_topology<mt::detail::one_copy<alternates_beyond_64>>(64).empty());
  CHECK(mt::check_topology<mt::detail::one_copy<alternates_beyond_64>>(66).view() ==
        "G49 the topology alternates_beyond_64 of 66 replicas: replica 0 changes the same public copy in the rounds 0 "
        "and 1, but has other messages there: rounds with other messages need other copies");
}

TEST_CASE("the first step refuses more workers than have one public copy") {
  auto const first_step = [](int n) {
    using policy = mt::compressed<mt::quantized<8>, mt::stochastic_gradient_push<alternates_beyond_64>>;
    program p = program::of<in_f64<mt::replicas<drift, any_replica_dim{}, policy>>>({any_replica(n)});
    p.fill("x", numbers(static_cast<std::size_t>(n) * size));
    p.run();
  };
  first_step(64);
  CHECK_THROWS_WITH(first_step(66), doctest::Contains("G49: the topology alternates_beyond_64 of 66 replicas"));
}

TEST_CASE("each peer of a one-peer exponential topology has a public copy of its own") {
  compare_all<mt::top_k_values<1, 6>, mt::one_peer_exponential>(largest);
  compare_all<mt::quantized<4>, mt::one_peer_exponential>(rounded(4));
}
TEST_CASE("each peer of a random matching has a public copy of its own") {
  compare_all<mt::top_k_values<1, 6>, mt::random_matching<5>>(largest);
  compare_all<mt::quantized<8>, mt::random_matching<1>>(rounded(8));
}
TEST_CASE("compressed gossip on changing topologies keeps the sum, and replicas reach the mean") {
  check_sums<mt::top_k_values<1, 6>, mt::one_peer_exponential>(600);
  check_sums<mt::top_k_values<1, 6>, mt::random_matching<5>>(1500);
  check_sum<6, mt::quantized<4>, mt::base_graph<1>>(600);
}
TEST_CASE("a worker changes the copy that its peer of the round changes") {
  using matching = mt::random_matching<5>;
  for (int const n : {2, 3, 6, 8})
    for (int round = 0; round < 40; ++round)
      for (int worker = 0; worker < n; ++worker) {
        int const peer = matching::copy(n, round, worker);
        CHECK(peer < matching::copies(n));
        CHECK(matching::copy(n, round, peer) == worker);
      }
}
