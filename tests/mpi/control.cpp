// SPDX-License-Identifier: Apache-2.0
// Loops that end early and branches, as ranks: all leave a loop after the same iteration and take the same branch, with
// the bits of one thread in turns; and a rank that fails within leaves nobody waiting.
// passes: start-up
// ranks: 2 3 4 6
// processors: 1
// needs: mpi
#include <doctest/doctest.h>
#include <stdlib.h>  // setenv

#include <stdexcept>
#include <string>

#include "meshtensor/meshtensor.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch : mt::dim<"batch", 13> {} batch;
inline constexpr struct width : mt::dim<"width", 8> {} width;
inline constexpr struct inner : mt::dim<"inner", 5> {} inner;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct by_batch : mt::layout<mt::shard<batch, data>> {};
struct by_width : mt::layout<mt::shard<width, data>> {};
struct by_inner : mt::layout<mt::shard<inner, data>, mt::in<"settle", mt::shard<batch, data>, mt::replicate<inner>>> {};

/// What x is; on a rank that is told to, fails or hangs in one of its calls.
struct may_fail {
  static inline int calls = 0, fails_at = -1, hangs_at = -1;
  static void begin() { calls = 0, fails_at = hangs_at = -1; }
  static void run(std::span<double const> x, std::span<double> y) {
    int const call = calls++;
    if (call == fails_at) throw std::runtime_error("the disk is full");
    if (call == hangs_at) ranks::hang_until_told();
    std::ranges::copy(x, y.begin());
  }
  static constexpr auto gradient(auto const&, auto const&, auto const& dy) { return dy; }
};

/// A state that settles, as the norm of all its changes says; then one of two branches, trained through both.
struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch, width);
    auto const w = s.parameter("w", width, inner, mt::normal(0.4));
    auto const driven = einsum(x, w, to(batch, inner));
    auto [count, h, last_change] = while_loop(
        s / "settle", mt::at_most(12), [](auto, auto, auto const& change) { return change > 1e-3; },
        [&](auto, auto const& state, auto) {
          auto const next = mt::call<may_fail>(tanh(driven + state * 0.5));
          auto const off = next - state;
          return std::tuple(next, sum(off * off));
        },
        full(s, 0, mt::f64, to(batch, inner)), full(s, 1, mt::f64));
    auto const y = cond(
        s / "sign", sum(h * s.parameter("sign", inner, mt::normal(1))) > s.number("least", 0),
        [&, state = h](auto r) {
          return einsum(state, r.parameter("back", inner, width, mt::normal(0.4)), to(batch, width));
        },
        [&, state = h](auto r) { return x * r.parameter("gain", width, mt::ones) + mean(state); });
    auto const loss = mean((y - x) * (y - x * 0.5));
    s.output("count", count);
    s.output("loss", loss);
    mt::momentum{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
  }
};

struct in_f64 : mt::precision<train, mt::f64> {};
template <class Layout>
using stepping = mt::executable<in_f64, mesh, Layout, mt::reference_device>;

mt::array<double, batch, width> some_x(int step = 0) {
  mt::array<double, batch, width> x;
  int i = 0;
  for (double& e : x) e = (0.2 + 0.2 * step) * (i++ % 7 - 2.5);
  return x;
}

/// Ten steps: the numbers of iterations, and the losses; every other step takes the other branch.
struct run_of {
  std::vector<std::int64_t> counts;
  std::vector<double> losses, weights;
  bool operator==(run_of const&) const = default;
};
template <class Layout>
run_of steps(mt::job const& job) {
  may_fail::begin();
  mt::store weights(job, 5);
  stepping<Layout> step(weights, data(ranks::count()));
  run_of all;
  for (int i = 0; i < 10; ++i) {
    auto const result = step(mt::feed<"x">(some_x(i)), mt::set<"least">(i % 2 == 0 ? -1e9 : 1e9));
    all.counts.push_back(result.template get<"count">()), all.losses.push_back(result.template get<"loss">());
  }
  for (char const* path : {"w", "sign/back", "sign/gain"})
    for (double const e : weights.template get<double>(path)) all.weights.push_back(e);
  return all;
}

/// What steps throw on this rank, which is rank `failed_rank`'s fault.
std::string thrown(int& failed_rank) {
  failed_rank = -2;
  try {
    mt::job const job(MPI_COMM_WORLD);
    mt::store weights(job);
    stepping<by_batch> step(weights, data(ranks::count()));
    for (int i = 0; i < 1000; ++i) step(mt::feed<"x">(some_x()));
  } catch (mt::error const& e) {
    failed_rank = e.rank();
    return e.what();
  } catch (std::exception const& e) { return e.what(); }
  return "nothing";
}

/// The program's own MPI still works, and the next job gives what it should.
void goes_on() {
  int sum = 0, one = 1;
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(sum == ranks::count());
  CHECK(steps<by_batch>(mt::job(MPI_COMM_WORLD)) == steps<by_batch>(mt::job::in_lockstep()));
}

}  // namespace

TEST_CASE("ranks and lockstep are one, under several layouts") {
  auto const check = []<class Layout>(Layout) {
    run_of const here = steps<Layout>(mt::job(MPI_COMM_WORLD)), wanted = steps<Layout>(mt::job::in_lockstep());
    CHECK(here.counts == wanted.counts);
    CHECK(here == wanted);
    return here.counts;
  };
  auto const counts = check(by_batch{});
  CHECK(check(by_width{}) == counts);
  CHECK(check(by_inner{}) == counts);
  CHECK(*std::ranges::min_element(counts) > 1);
  CHECK(*std::ranges::max_element(counts) < 12);
  CHECK(*std::ranges::min_element(counts) < *std::ranges::max_element(counts));
}

TEST_CASE("an exception in the third iteration of a loop, and in a later step's loop") {
  int const last = ranks::count() - 1;
  for (int const at : {2, 31}) {
    may_fail::begin();
    if (ranks::rank() == last) may_fail::fails_at = at;
    int failed = 0;
    std::string const said = thrown(failed);
    if (ranks::rank() == last) {
      CHECK(said == "the disk is full");
    } else {
      CHECK(said == "meshtensor R21: rank " + std::to_string(last) + " failed: the disk is full");
      CHECK(failed == last);
    }
    goes_on();
  }
}

TEST_CASE("a rank that hangs in a loop is named, with the loop's collective") {
  auto const limit = ranks::limit_from([] { steps<by_batch>(mt::job(MPI_COMM_WORLD)); });
  setenv("MESHTENSOR_WAIT_SECONDS", std::to_string(static_cast<double>(limit.count()) / 1000).c_str(), 1);
  may_fail::begin();
  if (ranks::rank() == 0) may_fail::hangs_at = 14;
  int failed = 0;
  std::string const said = thrown(failed);
  if (ranks::rank() != 0) ranks::tell_hanging_rank();
  unsetenv("MESHTENSOR_WAIT_SECONDS");
  INFO(said);
  if (ranks::rank() == 0) {
    CHECK(said.starts_with("meshtensor R21: rank "));
  } else {
    CHECK(said.starts_with("meshtensor R22: it waited "));
    CHECK(failed == 0);
  }
  CHECK(said.find(" (control.cpp:") != std::string::npos);
  CHECK(said.find("; rank 0 did not come to it (process ") != std::string::npos);
  goes_on();
}
