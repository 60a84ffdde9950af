// SPDX-License-Identifier: Apache-2.0
// Ranks that are about to run different things say so before the first step, each of them; none waits for the others.
// passes: start-up
// ranks: 2 3
// needs: mpi
// alone
#include <doctest/doctest.h>

#include <mpi.h>

#include "mpi/ranks.hpp"
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

namespace {

inline constexpr struct all_axis : mt::axis<"all"> {} all;
struct line_of_ranks : mt::mesh<all> {};
struct by_batch : mt::layout<mt::shard<batch, all>> {};
struct whole : mt::layout<> {};

// A square, spread one way or the other: graphs, memory and traffic of both are alike.
inline constexpr struct down : mt::dim<"down", 12> {} down;
inline constexpr struct across : mt::dim<"across", 12> {} across;
struct square {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, down, across) * 2); }
};
// Two versions of one program.
namespace one {
struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", sum(s.input("x", mt::f32, down, across), down)); }
};
}  // namespace one
namespace two {
struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", max(s.input("x", mt::f32, down, across), down)); }
};
}  // namespace two
struct in_rows : mt::layout<mt::shard<down, all>> {};
struct in_columns : mt::layout<mt::shard<across, all>> {};

std::string sentence(auto make) {
  try {
    make();
  } catch (mt::error const& e) { return e.what(); }
  return {};
}

}  // namespace

TEST_CASE("other sizes, layouts or programs") {
  mt::job const job(MPI_COMM_WORLD);
  int const batches = 2 * ranks::count(), last = ranks::count() - 1;
  bool const other = ranks::rank() == last;
  std::vector<int> first;
  for (int r = 0; r < last; ++r) first.push_back(r);
  // What is said of a difference between the last rank and the others.
  auto const differ = [&](std::string const& what, std::string const& mine, std::string const& its) {
    return "meshtensor R24: the ranks differ in " + what + ": " + mine + " on " + mt::text_of_ranks(first) + ", " +
           its + " on rank " + std::to_string(last) + ": start all ranks with the same program and arguments";
  };
  {
    mt::store weights(job);
    CHECK(sentence([&] {
            mt::executable<grow, line_of_ranks, by_batch, mt::reference_device>(weights,
                                                                                batch(other ? 2 * batches : batches));
          }) == differ("the extents", "'batch = " + std::to_string(batches) + "'",
                       "'batch = " + std::to_string(2 * batches) + "'"));
  }
  {
    mt::store weights(job);
    CHECK(sentence([&] {
            if (other) mt::executable<grow, line_of_ranks, whole, mt::reference_device>(weights, batch(batches));
            else mt::executable<grow, line_of_ranks, by_batch, mt::reference_device>(weights, batch(batches));
          }) == differ("the layout", "'batch over all'", "nothing"));
  }
  {
    mt::store weights(job);
    CHECK(sentence([&] {
            if (other) mt::executable<grow_and_look, look, line_of_ranks, by_batch, mt::reference_device> mine(weights);
            else
              mt::executable<grow_and_look, grow, line_of_ranks, by_batch, mt::reference_device>(weights,
                                                                                                 batch(batches));
          }) == differ("the program", "'grow'", "'look'"));
  }
  {
    mt::store weights(job);
    CHECK(sentence([&] {
            if (other) mt::executable<square, line_of_ranks, in_columns, mt::reference_device> mine(weights);
            else mt::executable<square, line_of_ranks, in_rows, mt::reference_device> mine(weights);
          }) == differ("the layout", "'down over all'", "'across over all'"));
  }
  {
    mt::store weights(job, other ? 8 : 7);
    CHECK(sentence([&] { mt::executable<square, line_of_ranks, in_rows, mt::reference_device> mine(weights); }) ==
          differ("the store's seed", "'7'", "'8'"));
  }
  {
    mt::store weights(job);
    if (other) weights.set_step(3);
    CHECK(sentence([&] { mt::executable<square, line_of_ranks, in_rows, mt::reference_device> mine(weights); }) ==
          differ("the store's step", "'0'", "'3'"));
  }
  mt::store weights(job);  // and what they agree on goes on
  mt::executable<grow, line_of_ranks, by_batch, mt::reference_device> step(weights, batch(batches));
  mt::array<float, batch, rows> x(batch(batches));
  CHECK(step(mt::feed<"x">(x)).get<"sum">() != 0);
}

TEST_CASE("other devices, meshes and builds: the first line that differs") {
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  mt::executable<square, line_of_ranks, in_rows, mt::reference_device> const step(weights);
  bool const other = ranks::rank() == 0;
  auto const said = [&](char const* device, char const* axis, char const* build) {
    mt::mesh_shape shape{};
    shape.add(mt::name::of(axis), ranks::count());
    mt::start_record const mine{
        step.graph(),   step.planned(), shape, in_rows::rules, mt::name("square"), mt::name::of(device),
        weights.seed(), weights.step(), "",    build};
    return sentence([&] { weights.runner().require_same(&mine, nullptr); });
  };
  std::string const rest = ranks::count() == 2 ? "rank 1" : "ranks 1, 2", size = std::to_string(ranks::count());
  CHECK(said("cpu", "all", "g++\nstrict\n").empty());
  CHECK(said(other ? "gpu" : "cpu", "all", "g++")
            .starts_with("meshtensor R24: the ranks differ in the device: 'gpu' on rank 0, 'cpu' on " + rest +
                         ": start all ranks with"));
  CHECK(said("cpu", other ? "some" : "all", "g++")
            .find("the mesh: 'some = " + size + "' on rank 0, 'all = " + size + "' on " + rest) != std::string::npos);
  CHECK(said(other ? "gpu" : "cpu", "all", other ? "g++\nloose\n" : "g++\nstrict\n")
            .find("the build: 'loose' on rank 0, 'strict' on " + rest) != std::string::npos);
  CHECK(said("cpu", "all", ranks::rank() % 2 == 0 ? "g++" : "clang")
            .find("the build: 'g++' on rank" + std::string(ranks::count() == 2 ? " 0" : "s 0, 2") +
                  ", 'clang' on rank 1") != std::string::npos);
}

TEST_CASE("programs of one name: the first operation that differs, with its line") {
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  std::string const said = sentence([&] {
    if (ranks::rank() == 0) mt::executable<one::step, line_of_ranks, in_rows, mt::reference_device> mine(weights);
    else mt::executable<two::step, line_of_ranks, in_rows, mt::reference_device> mine(weights);
  });
  INFO(said);
  CHECK(said.starts_with("meshtensor R24: the ranks differ in the operations: '%1: f32[across"));
  CHECK(said.find("= sum(%0) over down # different_plans.cpp:33' on rank 0, ") != std::string::npos);
  CHECK(said.find("= max(%0) over down # different_plans.cpp:38' on rank") != std::string::npos);
}

TEST_CASE("what one rank refuses is told to all, and the job goes on") {
  mt::job const job(MPI_COMM_WORLD);
  int const last = ranks::count() - 1, batches = 2 * ranks::count();
  bool const other = ranks::rank() == last;
  mt::store weights(job);
  auto const make = [&](int size) {
    mt::executable<grow, line_of_ranks, by_batch, mt::reference_device> step(weights, batch(size));
  };
  std::string const own = "meshtensor S10: the dim 'batch' cannot have the extent 0";
  std::string said = sentence([&] { make(other ? 0 : batches); });
  INFO(said);
  CHECK(said.starts_with(other ? own : "meshtensor R21: rank " + std::to_string(last) + " failed: " + own));
  said = sentence([&] { make(0); });  // on all of them: nobody else's fault
  CHECK(said.starts_with(own));
  CHECK(sentence([&] { make(batches); }).empty());
}
