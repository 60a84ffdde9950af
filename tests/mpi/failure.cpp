// SPDX-License-Identifier: Apache-2.0
// A rank that fails says so and ends the job; a wait that is too long names the collective. MPI_Abort is caught here.
// passes: start-up
// ranks: 2 3
// processors: 1
// needs: mpi
#include <doctest/doctest.h>

#include <cstddef>
#include <stdexcept>

#include "meshtensor/comm/mpi.hpp"
#include "mpi/ranks.hpp"

namespace mt = meshtensor;

namespace {
struct aborted {
  int code;
};
bool catches = false;
}  // namespace

extern "C" int MPI_Abort(MPI_Comm over, int code) {
  if (!catches) return PMPI_Abort(over, code);
  throw aborted{code};
}

namespace {
// The exit code that the job would have had; 0 if nothing aborted it.
template <class Program>
int exit_code(Program program) {
  catches = true;
  int code = 0;
  try {
    program();
  } catch (aborted const& a) { code = a.code; }
  catches = false;
  return code;
}
}  // namespace

namespace {
/// Of waits in a world that is made, has a group, and goes.
std::chrono::milliseconds limit() {
  return ranks::limit_from([] {
    for (int i = 0; i < 3; ++i) {
      mt::mpi_world world;
      auto const members = ranks::below(world.size());
      world.prepare({members.data(), world.size(), world.rank()});
    }
  });
}
}  // namespace

TEST_CASE("abort, and what a program throws") {
  mt::mpi_world world;
  CHECK(exit_code([&] { world.abort("no such file"); }) == 1);
  CHECK(exit_code([&] { world.run([](mt::mpi_world&) { throw std::runtime_error("no such file"); }); }) == 1);
  CHECK(exit_code([&] { world.run([](mt::mpi_world&) {}); }) == 0);
}

TEST_CASE("a wait that is too long") {
  mt::mpi_world world({.limits = {.end = limit()}});
  auto const members = ranks::below(world.size());
  mt::group const all{members.data(), world.size(), world.rank()};
  world.prepare(all);
  static std::vector<float> x(10), y(10 * members.size());  // MPI keeps what is never complete
  mt::collective_call call;
  call.kind = mt::collective::all_gather, call.join = 0, call.dims = 1, call.extent[0] = 10;
  mt::mpi_world::request r;
  if (world.rank() != 0) {
    r = world.start(call, all, x.data(), y.data(), nullptr);
    CHECK(exit_code([&] { world.wait(r); }) == 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);  // rank 0 comes after the others have given up
  if (world.rank() != 0) return;
  r = world.start(call, all, x.data(), y.data(), nullptr);  // what the others have sent is there
  world.wait(r);
}

TEST_CASE("ranks that wait for different things say so") {
  std::string warning;
  auto const warn = limit(), end = 2 * warn;
  mt::wait_limits limits{.warn = warn, .end = end};
  limits.say = [&](std::string const& sentence) { warning = sentence; };
  static mt::mpi_world world({.limits = limits, .throws = true});  // messages that never come use its memory
  int const me = world.rank(), last = world.size() - 1;
  static std::vector<int> const up = ranks::below(world.size()), down(up.rbegin(), up.rend());
  mt::group const ascending{up.data(), world.size(), me}, descending{down.data(), world.size(), last - me};
  world.prepare(ascending), world.prepare(descending);
  static float x = 1, y[8] = {};
  mt::collective_call call;
  call.kind = mt::collective::all_gather, call.join = 0, call.dims = 1, call.extent[0] = 1;
  call.file = "first.cpp", call.line = me == 0 ? 7 : 8;
  std::string said;
  try {
    auto r = world.start(call, me == 0 ? ascending : descending, &x, y, nullptr);
    world.wait(r);
  } catch (mt::error const& e) { said = e.what(); }
  INFO(said);
  CHECK(said.starts_with("meshtensor R22: it waited " + mt::text_of(end) + " for collective 0 of ranks 0"));
  CHECK(said.find(me == 0 ? "(first.cpp:7)" : "(first.cpp:8)") != std::string::npos);
  CHECK(said.find("; rank " + std::to_string(me == 0 ? 1 : 0) + " waits for something else, collective 0 of") !=
        std::string::npos);
  CHECK(said.ends_with(std::string(me == 0 ? "(first.cpp:8)" : "(first.cpp:7)") +
                       "; all ranks must make the same executables, steps, gets and saves, in one order"));
  CHECK(warning.starts_with("R22: rank 0: it waited " + mt::text_of(warn) + " for collective 0") ==
        (me == 0));  // one speaks for all
  CHECK(warning.empty() == (me != 0));
}

TEST_CASE("a rank whose part is shorter waits for the same") {
  if (ranks::count() < 3) return;
  auto const end = limit();
  static mt::mpi_world world({.limits = {.end = end}, .throws = true});  // messages that never come use its memory
  int const me = world.rank(), last = world.size() - 1;
  static std::vector<int> const up = ranks::below(world.size()), down(up.rbegin(), up.rend());
  mt::group const ascending{up.data(), world.size(), me}, descending{down.data(), world.size(), last - me};
  world.prepare(ascending), world.prepare(descending);
  bool const strays = me == last;
  mt::collective_call call;
  call.kind = mt::collective::all_gather, call.join = 0, call.dims = 1;
  call.joined = world.size() + 1, call.extent[0] = me == 0 || strays ? 2 : 1;
  static std::vector<float> x(2), y(8);
  static std::vector<std::max_align_t> workspace(
      static_cast<std::size_t>(world.workspace_bytes(call, world.size())) / sizeof(std::max_align_t) + 1);
  std::string said;
  try {
    auto r = world.start(call, strays ? descending : ascending, x.data(), y.data(), workspace.data());
    world.wait(r);
  } catch (mt::error const& e) { said = e.what(); }
  INFO(said);
  CHECK(said.find("; " + mt::text_of_ranks({strays ? 0 : last}) + " waits for something else, collective 0 of") !=
        std::string::npos);
}

TEST_CASE("a rank that is behind fails where the rank that failed was") {
  for (bool comes : {true, false}) {
    auto& world = *new mt::mpi_world({.tells = true});  // stays: messages that never come use its memory
    auto& members = *new std::vector<int>(ranks::below(world.size()));
    int const me = world.rank(), last = world.size() - 1;
    mt::group const all{members.data(), world.size(), me};
    world.prepare(all);
    mt::collective_call call;
    call.kind = mt::collective::broadcast, call.root = last, call.dims = 1, call.extent[0] = 1;
    auto& x = *new float(me == last ? 7 : 0);
    auto& y = *new float(0);
    auto const fails = [&] {
      mt::error said("", "");
      try {
        auto r = world.start(call, all, &x, &y, nullptr);
        world.wait(r);
      } catch (mt::error const& e) { said = e; }
      CHECK(std::string(said.what()) == "meshtensor R21: rank " + std::to_string(last) + " failed: the disk is full");
      CHECK(said.rank() == last);
    };
    world.next_phase();
    mt::mpi_world::request first;
    if (comes) first = world.start(call, all, &x, &y, nullptr);
    if (me == last) {
      world.wait(first);
      world.next_phase(), world.next_phase();
      world.tell("the disk is full");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me != last && comes) {
      world.wait(first);
      CHECK(y == 7);
      world.next_phase(), world.next_phase();
    }
    if (me != last) fails(), fails();  // if nothing comes: after two seconds, and at once
    CHECK(world.has_failed());
    world.abandon();
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_CASE("an error of the MPI library carries its text") {
  mt::mpi_world world;
  int members[2] = {0, 1};
  CHECK_THROWS_WITH_AS(mt::comm::must(MPI_Comm_set_errhandler(world.handle(), MPI_ERRORS_RETURN) == MPI_SUCCESS
                                          ? MPI_Send(members, -1, MPI_INT, 0, 0, world.handle())
                                          : MPI_SUCCESS,
                                      "MPI_Send"),
                       doctest::Contains("R25: MPI_Send failed with code"), mt::error);
}
