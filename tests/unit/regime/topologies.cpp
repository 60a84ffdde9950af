// SPDX-License-Identifier: Apache-2.0
// Topologies: values keep their sum, workers are connected, means are exact where they shall be, and errors name the
// worker.
#include <doctest/doctest.h>
#include <array>

#include "meshtensor/regime/base_graph.hpp"
#include "meshtensor/regime/check_topology.hpp"
#include "meshtensor/regime/complete.hpp"
#include "meshtensor/regime/exponential.hpp"
#include "meshtensor/regime/random_topology.hpp"
#include "meshtensor/regime/ring.hpp"
#include "meshtensor/regime/torus.hpp"

namespace {

namespace mt = meshtensor;

template <class T>
void holds(char const* what) {
  for (int n = 1; n <= 40; ++n) {
    INFO(what, " of ", n);
    CHECK(mt::check_topology<T>(n).view() == "");
    mt::mixing_facts const f = mt::facts_of<T>(n);
    CHECK(f.workers == n);
    CHECK((f.connected_after >= 0 && f.connected_after <= f.rounds));
    CHECK(f.deviation < 1);
    for (std::int64_t round = 0; round < f.rounds; ++round)
      for (int i = 0; i < n; ++i)
        for (int slot = 0; slot < T::slots(n); ++slot) {
          mt::edge const e = T::incoming(n, round, i, slot);
          CHECK((e.source >= -1 && e.source < n && e.source != i));
          CHECK((e.source < 0 ? e.weight == 0 : e.weight > 0 && e.weight < 1));
          if (f.repeats) CHECK(e.source == T::incoming(n, round + f.rounds, i, slot).source);
        }
  }
}
/// The largest difference from 1 of what arrives at a worker and what it keeps.
template <class T>
double rows_off(int n, int rounds) {
  double most = 0;
  for (int round = 0; round < rounds; ++round)
    for (int i = 0; i < n; ++i) {
      double sum = T::kept(n, round, i);
      for (int slot = 0; slot < T::slots(n); ++slot) sum += T::incoming(n, round, i, slot).weight;
      most = std::max(most, sum > 1 ? sum - 1 : 1 - sum);
    }
  return most;
}

struct loses {
  static constexpr int period(int) { return 2; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int n, std::int64_t round, int worker, int) {
    return {(worker + 1) % n, round == 1 && worker == 2 ? 0.25 : 0.5};
  }
  static constexpr double kept(int, std::int64_t, int) { return 0.5; }
};
struct islands {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int, std::int64_t, int worker, int) { return {worker ^ 1, 0.5}; }
  static constexpr double kept(int, std::int64_t, int) { return 0.5; }
};
/// Random pairs within each half of the workers.
struct random_islands : mt::random_matching<3> {
  static constexpr mt::edge incoming(int n, std::int64_t round, int worker, int) {
    int const half = n / 2, first = worker / half * half;
    mt::edge const e = mt::random_matching<3>::incoming(half, round, worker - first, 0);
    return {e.source < 0 ? -1 : e.source + first, e.weight};
  }
  static constexpr double kept(int n, std::int64_t round, int worker) {
    return incoming(n, round, worker, 0).source < 0 ? 1 : 0.5;
  }
};
/// Messages go to the next worker, but none back to the first one.
struct one_way {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int, std::int64_t, int worker, int) {
    return worker == 0 ? mt::edge{} : mt::edge{worker - 1, 0.5};
  }
  static constexpr double kept(int n, std::int64_t, int worker) { return worker == n - 1 ? 1 : 0.5; }
};

/// Half of each value goes one or two workers ahead in turns.
struct in_turns {
  static constexpr int period(int) { return 2; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int n, std::int64_t round, int worker, int) {
    return {(worker + 2 * n - 1 - static_cast<int>(round % 2)) % n, 0.5};
  }
  static constexpr double kept(int, std::int64_t, int) { return 0.5; }
};
struct of_period_1 : in_turns {
  static constexpr int period(int) { return 1; }
};
struct of_period_3 : in_turns {
  static constexpr int period(int) { return 3; }
};
/// The two messages of a ring, which change their slots in each round.
struct in_other_slots : mt::ring {
  static constexpr mt::edge incoming(int n, std::int64_t round, int worker, int slot) {
    return mt::ring::incoming(n, round, worker, static_cast<int>((slot + round) % 2));
  }
};
struct repels : in_turns {
  static constexpr int period(int) { return 1; }
  static constexpr mt::edge incoming(int n, std::int64_t, int worker, int) { return {(worker + n - 1) % n, -0.5}; }
  static constexpr double kept(int, std::int64_t, int) { return 1.5; }
};
/// A ring whose workers come to the mean if there are three of them. With four they go beyond it.
struct fast : mt::ring {
  static constexpr mt::edge incoming(int n, std::int64_t round, int worker, int slot) {
    return {mt::ring::incoming(n, round, worker, slot).source, 0.6};
  }
  static constexpr double kept(int, std::int64_t, int) { return -0.2; }
};
struct fast_at_random : fast {
  static constexpr int period(int) { return 0; }
};
/// Worker 0 sends more than it has.
struct borrows : mt::directed_ring {
  static constexpr mt::edge incoming(int n, std::int64_t, int worker, int) {
    return {(worker + n - 1) % n, worker == 1 ? 1.25 : 0.5};
  }
  static constexpr double kept(int, std::int64_t, int worker) { return worker == 0 ? -0.25 : 0.5; }
};
/// Worker 0 gives its value away, and gets nothing in odd rounds.
struct left_alone : in_turns {
  static constexpr mt::edge incoming(int n, std::int64_t round, int worker, int) {
    if (worker == 0 && round % 2 == 1) return {};
    return {(worker + n - 1) % n, worker == 1 ? 1 : 0.5};
  }
  static constexpr double kept(int n, std::int64_t round, int worker) {
    return worker == 0 ? 0 : worker == n - 1 && round % 2 == 1 ? 1 : 0.5;
  }
};

static_assert(mt::check_topology<mt::ring>(64).empty());
static_assert(mt::check_topology<mt::base_graph<1>>(64).empty());
static_assert(mt::check_topology<mt::random_matching<3>>(33).empty());
static_assert(!mt::check_topology<loses>(6).empty());

}  // namespace

TEST_CASE("values keep their sum, and all workers are connected") {
  holds<mt::complete>("complete");
  holds<mt::directed_ring>("directed_ring");
  holds<mt::ring>("ring");
  holds<mt::torus>("torus");
  holds<mt::exponential>("exponential");
  holds<mt::one_peer_exponential>("one_peer_exponential");
  holds<mt::bipartite_exponential>("bipartite_exponential");
  holds<mt::base_graph<1>>("base_graph<1>");
  holds<mt::base_graph<2>>("base_graph<2>");
  holds<mt::base_graph<3>>("base_graph<3>");
  holds<mt::base_graph<4>>("base_graph<4>");
  holds<mt::random_matching<7>>("random_matching<7>");
  holds<mt::random_out_degrees<7>>("random_out_degrees<7>");
}

TEST_CASE("the Base-(k+1) graph is exact after a period, for any number of workers") {
  auto const exact = []<class T>(T, int peers) {
    for (int n = 1; n <= 65; ++n) {
      INFO("base_graph<", peers, "> of ", n);
      mt::mixing_facts const f = mt::facts_of<T>(n);
      CHECK(f.deviation < 1e-13);
      CHECK(rows_off<T>(n, f.rounds) < 1e-12);
      double log = 0;
      for (double size = 1; size * (peers + 1) <= n; size *= peers + 1) ++log;
      CHECK(f.rounds <= 2 * log + 2);
    }
  };
  exact(mt::base_graph<1>{}, 1);
  exact(mt::base_graph<2>{}, 2);
  exact(mt::base_graph<3>{}, 3);
  exact(mt::base_graph<5>{}, 5);
  // The lengths in the paper: five rounds of five workers, and hyper-hypercubes where all factors are small.
  CHECK(mt::base_graph<1>::period(5) == 5);
  CHECK(mt::base_graph<1>::period(6) == 4);
  CHECK(mt::base_graph<1>::period(8) == 3);
  CHECK(mt::base_graph<2>::period(6) == 2);
  CHECK(mt::base_graph<2>::period(9) == 2);
}

TEST_CASE("messages come from the workers before") {
  for (int round = 0; round < 6; ++round)
    CHECK(mt::one_peer_exponential::incoming(8, round, 1, 0).source == std::array{0, 7, 5}[round % 3]);
  CHECK(mt::directed_ring::incoming(8, 3, 0, 0).source == 7);
}

TEST_CASE("one-peer exponential messages are exact for powers of two alone") {
  for (int n : {2, 4, 8, 16, 32}) CHECK(mt::facts_of<mt::one_peer_exponential>(n).deviation == 0);
  double const six = mt::facts_of<mt::one_peer_exponential>(6).deviation;
  CHECK((six > 1.0 / 12 - 1e-12 && six < 1.0 / 12 + 1e-12));
  CHECK(mt::facts_of<mt::complete>(7).deviation < 1e-15);
  CHECK(mt::facts_of<mt::ring>(8).deviation > 0.1);
}

TEST_CASE("what arrives sums to 1, except for random numbers of receivers") {
  for (int n : {1, 2, 3, 6, 9, 12}) {
    CHECK(rows_off<mt::complete>(n, 1) < 1e-12);
    CHECK(rows_off<mt::ring>(n, 1) < 1e-12);
    CHECK(rows_off<mt::torus>(n, 1) < 1e-12);
    CHECK(rows_off<mt::exponential>(n, 1) < 1e-12);
    CHECK(rows_off<mt::one_peer_exponential>(n, 4) < 1e-12);
    CHECK(rows_off<mt::bipartite_exponential>(n, 12) < 1e-12);
    CHECK(rows_off<mt::random_matching<5>>(n, 12) < 1e-12);
  }
  CHECK(rows_off<mt::random_out_degrees<5>>(6, 12) > 0.1);
}

TEST_CASE("random pairs may take many rounds to connect all") {
  CHECK(mt::check_topology<mt::random_matching<768>>(3).view() == "");
  CHECK(mt::check_topology<mt::random_matching<991>>(4).view() == "");
  CHECK(mt::facts_of<mt::random_matching<768>>(3).connected_after > 8);
  CHECK(
      mt::check_topology<random_islands>(8).view() ==
      "G49 the topology random_islands of 8 replicas does not connect all of them within 112 rounds: let more replicas "
      "exchange messages");
}

TEST_CASE("a random order has each number once, also beyond 2^31") {
  for (std::int64_t const n :
       {std::int64_t{5}, (std::int64_t{1} << 30) + 1, (std::int64_t{1} << 31) + 5, (std::int64_t{1} << 40) - 7}) {
    INFO(n, " numbers");
    mt::detail::random_order const order{n, 12345};
    for (std::int64_t i = n - 5; i < n; ++i) {
      CHECK((order(i) >= 0 && order(i) < n));
      CHECK(order.inverse(order(i)) == i);
    }
    for (std::int64_t i = 0; i < 1000; ++i) CHECK((order(i % n) >= 0 && order(i % n) < n));
  }
}

TEST_CASE("rounds and seeds differ") {
  int same_round = 0, same_seed = 0;
  for (int i = 0; i < 20; ++i) {
    int const one = mt::random_matching<1>::incoming(20, 0, i, 0).source;
    CHECK(mt::random_matching<1>::incoming(20, 0, one, 0).source == i);
    same_round += one == mt::random_matching<1>::incoming(20, 1, i, 0).source;
    same_seed += one == mt::random_matching<2>::incoming(20, 0, i, 0).source;
  }
  CHECK(same_round < 8);
  CHECK(same_seed < 8);
}

TEST_CASE("an error names the worker, the round and the sum") {
  CHECK(
      mt::check_topology<loses>(6).view() ==
      "G49 the topology loses of 6 replicas does not keep the sum of values: what replica 3 sends and keeps in round 1 "
      "sums to 0.750000, and must sum to 1");
  CHECK(mt::check_topology<islands>(6).view() ==
        "G49 the topology islands of 6 replicas does not connect all of them within 1 round, its period: let more "
        "replicas exchange messages");
  CHECK(mt::check_topology<one_way>(4).view().find("does not connect all of them") != std::string_view::npos);
  CHECK(mt::check_topology<islands>(2).empty());
}

TEST_CASE("a period after which messages do not repeat is refused") {
  CHECK(mt::check_topology<in_turns>(6).empty());
  CHECK(mt::check_topology<in_other_slots>(6).empty());
  CHECK(mt::check_topology<of_period_1>(6).view() ==
        "G49 the topology of_period_1 of 6 replicas: period(6) is 1, but replica 0 has other messages in round 1 than "
        "in round 0: give the number of rounds after which all messages repeat, or 0 if they never do");
  CHECK(mt::check_topology<of_period_3>(6).view().find("in round 3 than in round 0") != std::string_view::npos);
}

TEST_CASE("negative shares that diverge, and a worker that is left with nothing, are refused") {
  CHECK(
      mt::check_topology<repels>(6).view() ==
      "G49 the topology repels of 6 replicas: replica 5 sends -0.500000 of its value to replica 0 in round 0. By these "
      "shares replicas diverge from each other: make them less negative");
  CHECK(mt::check_topology<borrows>(6).view() ==
        "G49 the topology borrows of 6 replicas: replica 0 keeps -0.250000 of its value in round 0. If a share is "
        "negative, then what each replica keeps and receives must also sum to 1, because the weights of push-sum may "
        "become 0 otherwise. That of replica 0 in round 0 sums to 0.250000");
  CHECK(mt::check_topology<fast>(3).empty());
  CHECK(mt::check_topology<fast>(4).view().find("replicas diverge") != std::string_view::npos);
  CHECK(mt::check_topology<fast_at_random>(3).view().find("Negative shares need a period") != std::string_view::npos);
  CHECK(mt::check_topology<left_alone>(6).view() ==
        "G49 the topology left_alone of 6 replicas: replica 0 keeps and receives nothing in round 1, so it has no "
        "parameters: let it keep a share");
}

TEST_CASE("the number of slots of any number of workers is known, or it varies") {
  CHECK(mt::detail::slots_of_any<mt::ring> == 2);
  CHECK(mt::detail::slots_of_any<mt::random_matching<3>> == 1);
  CHECK(mt::detail::slots_of_any<mt::complete> == -1);
  CHECK(mt::detail::slots_of_any<mt::exponential> == -1);
}

TEST_CASE("facts and errors are one sentence") {
  CHECK(mt::text_of(mt::check_topology<islands>(6)) == mt::check_topology<islands>(6).view());
  CHECK(mt::text_of(mt::check_topology<mt::ring>(6)) == "");
  CHECK(
      mt::text_of(mt::facts_of<mt::one_peer_exponential>(6)) ==
      "replicas: 6, all are connected after 1 round, and after 3 rounds the shares of values differ from 1/6 by up to "
      "0.083333");
  CHECK(mt::text_of(mt::facts_of<mt::base_graph<1>>(5)) ==
        "replicas: 5, all are connected after 3 rounds, and after 5 rounds all have the exact mean");
}

TEST_CASE("a topology of no replicas is refused") {
  for (int const n : {0, -1, -5}) {
    CAPTURE(n);
    CHECK(mt::check_topology<mt::ring>(n).view() ==
          "G49 the topology ring of " + std::to_string(n) + " replicas: give at least one replica");
    CHECK(!mt::check_topology<mt::base_graph<1>>(n).empty());
    CHECK(!mt::check_topology<mt::exponential>(n).empty());
    CHECK(mt::text_of(mt::facts_of<mt::torus>(n)) == "replicas: 0");
  }
}
