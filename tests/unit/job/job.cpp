// SPDX-License-Identifier: Apache-2.0
// A job whose processors are threads: sessions that take turns, jobs at the same time, and what a processor throws.
// passes: start-up
#include <doctest/doctest.h>
#include <stdlib.h>  // setenv

#include <thread>

#include "meshtensor/job/local_runners.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch", 8> {} batch;
inline constexpr struct data_axis : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

/// Adds up what it is fed.
struct collect {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f64, batch);
    auto total = s.state("total", mt::f64);
    s.update(total, total + sum(x));
    s.output("seen", total);
  }
};

using stepping = mt::executable<collect, mesh, layout>;
std::vector<double> eight(double x) { return std::vector<double>(8, x); }

std::string sentence(auto const& f) {
  try {
    f();
  } catch (std::exception const& e) { return e.what(); }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("a Slurm job of several tasks, and nobody who started them") {
  setenv("SLURM_NTASKS", "3", 1);
  CHECK(
      sentence([] { mt::job(0, nullptr); }) ==
      "meshtensor R18: this process runs alone inside of a Slurm job of 3 tasks: start it with srun; if it is meant to "
      "be alone, with SLURM_NTASKS=1");
  setenv("SLURM_NTASKS", "1", 1);
  CHECK(sentence([] { mt::job(0, nullptr); }) == "nothing was thrown");
  unsetenv("SLURM_NTASKS");
}

TEST_CASE("a launcher and no MPI") {
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  char* none[] = {nullptr};
  CHECK(sentence([&] { mt::job job(0, none); }).starts_with("meshtensor R09: a launcher started 4 processes"));
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

TEST_CASE("sessions of one job take turns, on meshes of different sizes") {
  auto const job = mt::job::as_threads();
  CHECK(job.processes() == 1);
  mt::store some(job), more(job), same(job);
  stepping two(some, data(2)), four(more, data(4)), again(same, data(2));
  for (int i = 0; i < 40; ++i) {
    CHECK(two(mt::feed<"x">(eight(1))).get<"seen">() == 8 * i);
    CHECK(four(mt::feed<"x">(eight(2))).get<"seen">() == 16 * i);
    CHECK(again(mt::feed<"x">(eight(3))).get<"seen">() == 24 * i);
  }
}

TEST_CASE("a session is stepped by one thread after another") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  stepping step(weights, data(2));
  for (int i = 0; i < 10; ++i) std::thread([&] { CHECK(step(mt::feed<"x">(eight(1))).get<"seen">() == 8 * i); }).join();
}

TEST_CASE("two jobs at the same time") {
  std::vector<std::thread> users;
  double seen[2] = {};
  for (int u = 0; u < 2; ++u)
    users.emplace_back([&, u] {
      auto const job = mt::job::as_threads();
      mt::store weights(job);
      stepping step(weights, data(u == 0 ? 2 : 4));
      for (int i = 0; i < 50; ++i) seen[u] = step(mt::feed<"x">(eight(u + 1))).get<"seen">();
    });
  for (std::thread& t : users) t.join();
  CHECK(seen[0] == 8 * 49);
  CHECK(seen[1] == 16 * 49);
}

TEST_CASE("a processor that throws releases the others, and its exception comes out") {
  for (int thrower : {0, 1, 3}) {
    mt::thread_runner job;
    int const members[] = {0, 1, 2, 3};
    std::vector<mt::planned_collective> calls(4);
    std::vector<int> numbers(4);
    std::vector<double> x(4, 1), y(4);
    job.run(4, [&](int rank, mt::transport& t) {
      auto& c = calls[static_cast<std::size_t>(rank)];
      c.call.type = mt::f64, c.with = {members, 4, rank};
      numbers[static_cast<std::size_t>(rank)] = t.prepare(c);
    });
    auto const step = [&](bool fails) {
      job.run(4, [&](int rank, mt::transport& t) {
        auto const r = static_cast<std::size_t>(rank);
        if (fails && rank == thrower) throw std::runtime_error("no memory for rank " + std::to_string(rank));
        t.start(numbers[r], calls[r], &x[r], &y[r]);
        t.wait(numbers[r]);
      });
    };
    for (int i = 0; i < 5; ++i) step(false);
    CHECK(y == std::vector<double>(4, 4));
    std::string const who = std::to_string(thrower);
    CHECK(sentence([&] { step(true); }) == "no memory for rank " + who);
    // The job stays failed; it ends all the same.
    CHECK(sentence([&] { step(false); }) == "meshtensor R21: rank " + who + " failed: no memory for rank " + who);
  }
}

TEST_CASE("a processor that leaves early") {
  mt::thread_runner job;
  int const members[] = {0, 1};
  mt::planned_collective calls[2];
  for (int i = 0; i < 2; ++i) calls[i].call.type = mt::f64, calls[i].with = {members, 2, i};
  double x[2] = {}, y[2];
  CHECK(sentence([&] {
          job.run(2, [&](int rank, mt::transport& t) {
            int const number = t.prepare(calls[rank]);
            if (rank == 1) return;
            t.start(number, calls[rank], x + rank, y + rank);
            t.wait(number);
          });
        }).find("rank 1 failed: it left the program") != std::string::npos);
}

TEST_CASE("an executable that is gone leaves nothing in its job") {
  auto const job = mt::job::as_threads();
  int first[2] = {-1, -1}, again[2] = {-1, -1}, other[2] = {-1, -1};
  std::vector<int> const both{0, 1};
  auto const pair = [&](int rank) {
    mt::planned_collective c;
    c.members = both, c.with = {c.members.data(), 2, rank}, c.call.dims = 1, c.call.extent[0] = 3;
    return c;
  };
  job.get().run(2, [&](int rank, mt::transport& t) {
    first[rank] = t.prepare(pair(rank));
    t.release(first[rank]);
    again[rank] = t.prepare(pair(rank));
    other[rank] = t.prepare(pair(rank));  // the first one is in use
  });
  for (int rank : both) {
    CHECK(again[rank] == first[rank]);
    CHECK(other[rank] != first[rank]);
  }
}
