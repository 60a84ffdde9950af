// SPDX-License-Identifier: Apache-2.0
// A guest in a program that has its own MPI: jobs side by side, nothing left behind, and what goes wrong on one rank is
// an exception on all, after which the program goes on.
// passes: start-up
// ranks: 2 4 6
// processors: 1
#include <doctest/doctest.h>
#include <stdlib.h>  // setenv

#include <stdexcept>
#include <string>

#include "meshtensor/comm/wait_limits.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/run/guest.hpp"
#include "ranks.hpp"

namespace mt = meshtensor;

namespace {
int communicators = 0;  // that are made and not freed
}  // namespace

extern "C" {
int MPI_Comm_dup(MPI_Comm c, MPI_Comm* made) {
  ++communicators;
  return PMPI_Comm_dup(c, made);
}
int MPI_Comm_create_group(MPI_Comm c, MPI_Group g, int tag, MPI_Comm* made) {
  ++communicators;
  return PMPI_Comm_create_group(c, g, tag, made);
}
int MPI_Comm_free(MPI_Comm* c) {
  --communicators;
  return PMPI_Comm_free(c);
}
}

namespace {

inline constexpr struct batch : mt::dim<"batch", 12> {} batch;
inline constexpr struct width : mt::dim<"width", 40> {} width;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

/// What x is, unless this rank is told to fail.
struct may_fail {
  static inline bool fails = false;
  static void run(std::span<float const> x, std::span<float> y) {
    if (fails) throw std::runtime_error("the disk is full");
    std::ranges::copy(x, y.begin());
  }
};

struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, width);
    auto off = x * s.parameter("w", width, mt::normal(1)) - 1;
    auto loss = mean(off * off);
    mt::momentum{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("seen", mean(mt::call<may_fail>(x)));
  }
};
using stepping = mt::executable<train, mesh, layout, mt::reference_device>;

mt::array<float, batch, width> some_x() {
  mt::array<float, batch, width> x;
  int i = 0;
  for (float& e : x) e = static_cast<float>(i++ % 7) / 3 - 1;
  return x;
}

/// The sentence of its error.
template <class F>
std::string refused(F const& f) {
  try {
    f();
    return "";
  } catch (mt::error const& e) { return e.what(); }
}

std::vector<float> losses(mt::job const& job, int size, std::uint64_t seed) {
  mt::store weights(job, seed);
  stepping step(weights, data(size));
  std::vector<float> all;
  for (int i = 0; i < 10; ++i) all.push_back(step(mt::feed<"x">(some_x())).get<"loss">());
  return all;
}

/// What steps throw on this rank, at the latest after the thousandth.
template <class Before>
std::string thrown(MPI_Comm ranks, Before before, int& failed_rank) {
  failed_rank = -2;
  try {
    mt::job const job(ranks);
    mt::store weights(job);
    stepping step(weights, data(job.get().size()));
    auto const x = some_x();
    for (int i = 0; i < 1000; ++i) {
      before(i);
      step(mt::feed<"x">(x));
    }
  } catch (mt::error const& e) {
    failed_rank = e.rank();
    return e.what();
  } catch (std::exception const& e) { return e.what(); }
  return "nothing";
}

/// The limit of waits of all jobs that are made meanwhile.
struct limited {
  std::string text;
  limited() {
    auto const limit = ranks::limit_from([] { losses(mt::job(MPI_COMM_WORLD), ranks::count(), 5); });
    text = mt::text_of(limit);
    setenv("MESHTENSOR_WAIT_SECONDS", std::to_string(static_cast<double>(limit.count()) / 1000).c_str(), 1);
  }
  limited(limited const&) = delete;
  ~limited() { unsetenv("MESHTENSOR_WAIT_SECONDS"); }
};

/// The program's own MPI still works.
void goes_on() {
  int sum = 0, one = 1;
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK(sum == ranks::count());
}

}  // namespace

TEST_CASE("two jobs on disjoint halves train at once, and leave nothing") {
  int const before = communicators, half = ranks::count() / 2, mine = ranks::rank() < half ? 0 : 1;
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, mine, ranks::rank(), &part);
  auto const seed = static_cast<std::uint64_t>(7 + mine);
  auto const here = losses(mt::job(part), half, seed);
  CHECK(here == losses(mt::job::in_lockstep(), half, seed));
  CHECK(here.back() < here.front());
  CHECK(communicators == before);
  PMPI_Comm_free(&part);
  goes_on();
}

TEST_CASE("an exception in a step") {
  int const last = ranks::count() - 1;
  int failed = 0;
  auto const said = thrown(MPI_COMM_WORLD, [&](int i) { may_fail::fails = i == 3 && ranks::rank() == last; }, failed);
  may_fail::fails = false;
  if (ranks::rank() == last) {
    CHECK(said == "the disk is full");
  } else {
    CHECK(said == "meshtensor R21: rank " + std::to_string(last) + " failed: the disk is full");
    CHECK(failed == last);
  }
  goes_on();
}

TEST_CASE("an exception between steps") {
  int failed = 0;
  auto const said = thrown(
      MPI_COMM_WORLD,
      [&](int i) {
        if (i == 5 && ranks::rank() == 0) throw std::runtime_error("enough");
      },
      failed);
  if (ranks::rank() == 0) CHECK(said == "enough");
  else CHECK(said == "meshtensor R21: rank 0 failed: it left the job by an exception");
  goes_on();
}

TEST_CASE("a rank that hangs is named") {
  limited const now;
  int failed = 0;
  auto const said = thrown(
      MPI_COMM_WORLD,
      [&](int i) {
        if (i == 5 && ranks::rank() == 0) ranks::hang_until_told();
      },
      failed);
  if (ranks::rank() != 0) ranks::tell_hanging_rank();
  INFO(said);
  if (ranks::rank() == 0) {
    CHECK(said.starts_with("meshtensor R21: rank "));
    CHECK(said.find(" failed: it waited " + now.text + " for collective ") != std::string::npos);
  } else {
    CHECK(said.starts_with("meshtensor R22: it waited "));
    CHECK(failed == 0);
  }
  CHECK(said.find(" (guest.cpp:") != std::string::npos);
  CHECK(said.find("; rank 0 did not come to it (process ") != std::string::npos);
  goes_on();
}

TEST_CASE("a feed that one rank refuses, and leaves for it") {
  int failed = 0;
  std::string said;
  std::vector<float> const few(7);
  try {
    mt::job const job(MPI_COMM_WORLD);
    mt::store weights(job);
    stepping step(weights, data(ranks::count()));
    if (ranks::rank() == 0) step(mt::feed<"x">(few));
    else step(mt::feed<"x">(some_x()));
  } catch (mt::error const& e) { said = e.what(), failed = e.rank(); }
  std::string const own =
      "meshtensor R11: the input 'x' is [batch=12, width=40], 480 elements, but 7 elements were fed";
  INFO(said);
  if (ranks::rank() == 0) CHECK(said == own);
  else CHECK(said == "meshtensor R21: rank 0 failed: it left the job by an exception, after: " + own);
  CHECK(failed == (ranks::rank() == 0 ? -1 : 0));
  goes_on();
}

TEST_CASE("a rank that makes no executable while the others do") {
  limited const now;
  std::string said;
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  if (ranks::rank() != 0) try {
      stepping step(weights, data(ranks::count()));
    } catch (mt::error const& e) { said = e.what(); }
  INFO(said);
  if (ranks::rank() == 1) {
    CHECK(said.starts_with("meshtensor R22: it waited " + now.text + " for the first collective of rank"));
    CHECK(said.find(" (start of an executable); rank 0 did not come to it (process ") != std::string::npos);
    CHECK(said.ends_with("); all ranks must make the same executables, steps, gets and saves, in one order"));
  } else if (ranks::rank() != 0) {
    CHECK(said.starts_with("meshtensor R22: it waited "));
  }
  goes_on();
}

TEST_CASE("a rank that steps alone says why again when it is asked again") {
  limited const now;
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  stepping step(weights, data(ranks::count()));
  step(mt::feed<"x">(some_x()));
  std::string said, again, made;
  if (ranks::rank() == 0) {
    said = refused([&] { step(); }), again = refused([&] { step(); });
    made = refused([&] { stepping other(weights, data(ranks::count())); });
    CHECK(said.starts_with("meshtensor R22: it waited " + now.text + " for collective "));
    for (std::string const& later : {again, made})
      CHECK(later == "meshtensor R21: this rank failed before, so its job is over: " + said.substr(16));
  }
  goes_on();
}

TEST_CASE("a failure by functions for C: a status on every rank, and nothing is left") {
  using guest = mt::guest<stepping>;
  mt::guest_functions const& call = *guest::functions();
  int const before = communicators, last = ranks::count() - 1;
  auto const x = some_x();
  std::int64_t const whole = 0;  // the open axis gets all ranks
  std::int64_t extents[] = {12 / ranks::count(), 40}, made = 0;
  auto const begin = [&] {
    CHECK(call.create(&made, MPI_Comm_c2f(MPI_COMM_WORLD), &whole, mt::checksum_of(guest::interface())) == 0);
    CHECK(call.feed(made, 0, 0, x.data() + 480 / ranks::count() * ranks::rank(), extents, nullptr) == 0);
    CHECK(call.step(made, 0) == 0);
  };
  begin();
  CHECK(call.destroy(&made) == 0);
  CHECK(communicators == before);
  begin();
  may_fail::fails = ranks::rank() == last;
  int status = 0;
  for (int i = 0; i < 1000 && status == 0; ++i) status = call.step(made, 0);
  may_fail::fails = false;
  CHECK(status == 2);
  std::string const said = call.error();
  if (ranks::rank() == last) CHECK(said == "the disk is full");
  else CHECK(said == "meshtensor R21: rank " + std::to_string(last) + " failed: the disk is full");
  CHECK(call.step(made, 0) == 2);
  CHECK(call.destroy(&made) == 0);
  CHECK(call.step(made, 0) == 1);
  goes_on();
}

TEST_CASE("a job is not made outside of its communicator") {
  CHECK(
      refused([] { mt::job const job(MPI_COMM_NULL); }) ==
      "meshtensor R25: a job was given MPI_COMM_NULL, which ranks outside of a communicator get: make it on the ranks "
      "that are in the communicator");
  goes_on();
}

TEST_CASE("a job after those that failed") {
  CHECK(losses(mt::job(MPI_COMM_WORLD), ranks::count(), 3) == losses(mt::job::in_lockstep(), ranks::count(), 3));
}
