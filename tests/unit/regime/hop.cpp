// SPDX-License-Identifier: Apache-2.0
// A round of a topology in a program: shares of values arrive where the topology says, step after step.
// passes: start-up
#include "meshtensor/meshtensor.hpp"

#include <array>

#include "meshtensor/inspect/check.hpp"
#include "unit/op/trial.hpp"

namespace {

namespace mt = meshtensor;
inline constexpr struct worker_dim : mt::dim<"worker", 6> {} worker;
inline constexpr struct some_dim : mt::dim<"some"> {} some;
inline constexpr struct width_dim : mt::dim<"width", 2> {} width;

template <class T>
struct mixed {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, width, worker);
    auto const send = mt::hop<T>(s, worker, s.step());
    s.output("y", send(x));
    s.output("kept", send.kept(x));
    s.output("received", send.received(x));
    s.output("f32", send(cast(x, mt::f32)));
  }
};
template <class T>
struct mixed_open {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, some);
    s.output("y", mt::hop<T>(s, some, s.step())(x));
  }
};
struct loses {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int n, std::int64_t, int own, int) { return {(own + 1) % n, 0.25}; }
  static constexpr double kept(int, std::int64_t, int) { return 0.5; }
};

/// A ring that is known for six workers alone.
struct of_a_table {
  static constexpr std::array<int, 6> from{1, 2, 3, 4, 5, 0};
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int, std::int64_t, int own, int) {
    return {from[static_cast<std::size_t>(own)], 0.5};
  }
  static constexpr double kept(int, std::int64_t, int) { return 0.5; }
};
/// Fast linear averages have negative weights. `Later` is a round in which messages go the other way.
template <int Later>
struct with_negative_weights {
  static constexpr int period(int) { return 8; }
  static constexpr int slots(int) { return 2; }
  static constexpr mt::edge incoming(int n, std::int64_t round, int own, int slot) {
    bool const is_next = (slot == 0) != (round % 8 == Later);
    return {(own + (is_next ? 1 : n - 1)) % n, slot == 0 ? 0.375 : -0.125};
  }
  static constexpr double kept(int, std::int64_t, int) { return 0.75; }
};
template <class T, int>
struct grouped : T {};
struct turned_early : with_negative_weights<5> {};
struct turned_late : with_negative_weights<6> {};
std::string digits_of(std::string const& label) { return label.substr(label.rfind('/')); }
/// More than 40 workers have two messages in a round.
struct more_beyond_40 : mt::directed_ring {
  static constexpr int slots(int n) { return n > 40 ? 2 : 1; }
};
struct gains {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int n, std::int64_t, int own, int) { return {(own + 1) % n, -1e30}; }
  static constexpr double kept(int, std::int64_t, int) { return 0.5; }
};

/// What the topology says that worker i has after a round.
template <class T>
double after(std::vector<double> const& x, std::int64_t round, int i) {
  int const n = static_cast<int>(x.size());
  double sum = T::kept(n, round, i) * x[static_cast<std::size_t>(i)];
  for (int slot = 0; slot < T::slots(n); ++slot)
    if (mt::edge const e = T::incoming(n, round, i, slot); e.source >= 0)
      sum += e.weight * x[static_cast<std::size_t>(e.source)];
  return sum;
}

template <class T>
void hold(char const* what) {
  INFO(what);
  trial::program p = trial::program::of<mixed<T>>();
  std::vector<double> const rows{3, 1, 4, 1, 5, 9}, others{2, 7, 1, 8, 2, 8};
  std::vector<double> all = rows;
  all.insert(all.end(), others.begin(), others.end());
  for (std::int64_t round = 0; round < 4; ++round) {
    p.fill("x", all);
    mt::blocks const got = p.run();
    auto const y = trial::numbers_of(got.at("y")), kept = trial::numbers_of(got.at("kept"));
    auto const received = trial::numbers_of(got.at("received")), narrow = trial::numbers_of(got.at("f32"));
    double sum = 0;
    for (int i = 0; i < 6; ++i) {
      auto const at = static_cast<std::size_t>(i);
      CHECK(y[at] == doctest::Approx(after<T>(rows, round, i)));
      CHECK(y[at + 6] == doctest::Approx(after<T>(others, round, i)));
      CHECK(kept[at] == doctest::Approx(T::kept(6, round, i) * rows[at]));
      CHECK(kept[at] + received[at] == doctest::Approx(y[at]));
      CHECK(narrow[at] == doctest::Approx(y[at]).epsilon(1e-5));
      sum += y[at];
    }
    CHECK(sum == doctest::Approx(23));
  }
}

}  // namespace

TEST_CASE("shares arrive where the topology says") {
  hold<mt::complete>("complete");
  hold<mt::torus>("torus");
  hold<mt::one_peer_exponential>("one_peer_exponential");
  hold<mt::base_graph<2>>("base_graph<2>");
  hold<mt::random_out_degrees<3>>("random_out_degrees<3>");
  hold<of_a_table>("of_a_table");
  hold<with_negative_weights<3>>("with_negative_weights<3>");
}

TEST_CASE("the number of workers may be given at start-up") {
  trial::program p = trial::program::of<mixed_open<mt::directed_ring>>({{mt::name("some"), 3}});
  p.fill("x", {2, 4, 8});
  CHECK(trial::numbers_of(p.run().at("y")) == std::vector<double>{5, 3, 6});
}

TEST_CASE("a topology that loses values is refused in the first step") {
  trial::program p = trial::program::of<mixed_open<loses>>({{mt::name("some"), 3}});
  p.fill("x", {2, 4, 8});
  CHECK_THROWS_WITH_AS(
      p.run(),
      "meshtensor G49: the topology loses of 3 replicas does not keep the sum of values: what replica 0 "
      "sends and keeps in round 0 sums to 0.750000, and must sum to 1",
      mt::error);
}

TEST_CASE("the first step refuses a number of workers with more messages than the program has") {
  auto const first_step = [](int workers) {
    trial::program p = trial::program::of<mixed_open<more_beyond_40>>({{mt::name("some"), workers}});
    p.fill("x", std::vector<double>(static_cast<std::size_t>(workers), 1));
    p.run();
  };
  first_step(40);
  CHECK_THROWS_WITH_AS(first_step(41),
                       "meshtensor G49: the topology more_beyond_40 of 41 replicas: slots(41) is 2, but of fewer "
                       "replicas 1: declare the dim of the replicas with its extent",
                       mt::error);
}

TEST_CASE("a sum that is negative is printed as it is") {
  CHECK(
      mt::check_topology<gains>(3).view() ==
      "G49 the topology gains of 3 replicas does not keep the sum of values: what replica 0 sends and keeps in round 0 "
      "sums to less than -10^12, and must sum to 1");
}

TEST_CASE("topologies that differ have names that differ, for the fingerprint of a program") {
  auto const named = []<class T>(T) { return mt::detail::label_of<T>().text(); };
  CHECK(named(mt::random_matching<1>{}) != named(mt::random_matching<2>{}));
  CHECK(named(mt::ring{}) != named(mt::directed_ring{}));
  CHECK(named(mt::ring{}).starts_with("ring/"));
  CHECK(named(mt::one_peer_exponential{}).size() < mt::name::capacity);
  CHECK(named(mt::base_graph<7>{}) != named(mt::base_graph<8>{}));  // alike for up to eight workers
  CHECK(digits_of(named(turned_early{})) != digits_of(named(turned_late{})));
  auto const of_state = []<class T>(T) { return mt::detail::label_of<T>(true).text(); };
  CHECK(of_state(mt::base_graph<7>{}) != of_state(mt::base_graph<8>{}));
  CHECK(of_state(grouped<mt::ring, 8>{}) != of_state(grouped<mt::ring, 16>{}));
  CHECK(of_state(mt::ring{}) == mt::detail::label_of<mt::ring, 6>(true).text());  // another number may resume
  CHECK(mt::detail::label_of<mt::ring, 6>().text() != mt::detail::label_of<mt::ring, 7>().text());
}
