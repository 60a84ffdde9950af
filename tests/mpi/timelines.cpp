// SPDX-License-Identifier: Apache-2.0
// What steps took, by node: the table of one processor adds up, and the bars of all ranks lie on one time axis.
// passes: start-up
// needs: cpu
// ranks: 1 2 3 4 6
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/inspect/environment.hpp"
#include "meshtensor/inspect/trace_events.hpp"
#include "ranks.hpp"
#include "support/programs.hpp"
#include "support/trace_reader.hpp"

namespace mt = meshtensor;
using namespace programs;

namespace {

struct mesh : mt::mesh<ax> {};
struct layout : mt::layout<mt::shard<batch, ax>> {};
struct program : mt::precision<language_model, mt::f32> {};
using train = mt::executable<program, mesh, layout, mt::cpu_device>;

void run_steps(train& step, int count) {
  mt::array<std::int32_t, batch, length> text;
  for (std::int32_t i = 0; std::int32_t& e : text) e = i++ * 7 % 12;
  for (int t = 0; t < count; ++t) step(mt::feed<"text">(text), mt::feed<"next">(text));
}

}  // namespace

TEST_CASE("a table that adds up, and bars of all ranks") {
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  train step(weights, ax(ranks::count()));
  CHECK_THROWS_AS(mt::profile(step), mt::error);
  run_steps(step, 2);
  step.record();
  CHECK_THROWS_AS(mt::trace_events(step), mt::error);
  run_steps(step, 3);

  auto const held = step.recorded();
  REQUIRE(held.size() == 1);
  CHECK(held[0]->steps() == 3);
  std::int64_t own = 0;
  for (auto const& t : held[0]->totals()) own += t.own;
  CHECK(own > 0);
  CHECK(own <= held[0]->step_time());
  std::map<int, int> calls;
  for (auto const& s : held[0]->spans()) {
    ++calls[s.node];
    CHECK(s.begin <= s.end);
  }
  for (int i = 0; i < step.graph().node_count; ++i)
    CHECK(held[0]->totals()[static_cast<std::size_t>(i)].calls == (calls.count(i) != 0 ? calls[i] : 0));

  std::string const table = mt::profile(step);
  CHECK(table.rfind("profile: ", 0) == 0);
  CHECK(table.find("einsum of ") != table.npos);
  CHECK(table.find(", backward") != table.npos);
  CHECK(table.find("flop/s") != table.npos);
  CHECK((ranks::count() == 1 || table.find("all_reduce") != table.npos));  // a rank that comes last hardly waits

  auto const trace = meshtensor_test::checked(mt::trace_events(step));
  CHECK(static_cast<int>(trace.bars.size()) == ranks::count());
  for (auto const& [rank, bars] : trace.bars) {
    CHECK(bars.size() == held[0]->spans().size());  // all ranks run one plan
    CHECK(trace.names.at(rank) == "rank " + std::to_string(rank) + " · ax " + std::to_string(rank));
    CHECK(trace.process.at(rank) == rank + 1);
    CHECK(trace.process_names.at(rank + 1).find(", process ") != std::string::npos);
  }
  // An arrow for each run of a collective and each rank but the last one.
  std::size_t collectives = 0, moves = 0;
  for (auto const& s : held[0]->spans()) {
    mt::primitive const kind = step.graph().nodes[s.node].kind;
    collectives += mt::is_collective(kind) && kind != mt::primitive::move;
    moves += kind == mt::primitive::move;
  }
  CHECK(moves == 0);
  CHECK(trace.arrows.size() == collectives * static_cast<std::size_t>(ranks::count() - 1));
  CHECK((ranks::count() == 1 || !trace.arrows.empty()));
  step.record();
  CHECK(step.recorded()[0]->steps() == 0);
}

namespace {

inline constexpr struct place : mt::dim<"place", 24> {} place;
struct by_place : mt::layout<mt::shard<place, ax>> {};
struct neighbours {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, place);
    s.output("y", shift(x, place, 1) + x);
  }
};

}  // namespace

TEST_CASE("messages lead from the ranks that send them") {
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  mt::executable<neighbours, mesh, by_place, mt::cpu_device> step(weights, ax(ranks::count()));
  step.record();
  for (int i = 0; i < 3; ++i) step(mt::feed<"x">(std::vector<float>(24, 1)));
  auto const trace = meshtensor_test::checked(mt::trace_events(step));
  CHECK(trace.arrows.size() == 3 * static_cast<std::size_t>(ranks::count() - 1));
  for (auto const& [from, to] : trace.arrows) {
    CHECK(to.thread == from.thread + 1);  // elements go to the next rank
    CHECK(from.name == "move");
  }
}

TEST_CASE("a file, or a warning that it cannot be") {
  mt::job const job(MPI_COMM_WORLD);
  mt::store weights(job);
  train step(weights, ax(ranks::count()));
  step.record();
  run_steps(step, 1);
  auto const path = std::filesystem::temp_directory_path() / "meshtensor_timelines.json";
  mt::write_trace(step, path);
  if (job.is_root()) {
    std::ifstream in(path);
    std::stringstream content;
    content << in.rdbuf();
    auto const trace = meshtensor_test::checked(content.str());
    CHECK(static_cast<int>(trace.bars.size()) == ranks::count());
    for (auto const& [rank, bars] : trace.bars) CHECK(bars.size() == step.recorded()[0]->spans().size());
    std::filesystem::remove(path);
  }
  std::string said;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& sentence) { said = sentence; });
  CHECK(mt::write_trace(step, "/no/such/folder/x") == !job.is_root());
  mt::on_warning() = before;
  CHECK((said.find("R17: '/no/such/folder/x' cannot be written, No such file or directory") == 0) == job.is_root());
}

TEST_CASE("a file of all ranks that the environment asks for") {
  mt::job const job(MPI_COMM_WORLD);
  auto const path = std::filesystem::temp_directory_path() / "meshtensor_asked_for.json";
  setenv("MESHTENSOR_TRACE", path.c_str(), 1);
  std::size_t spans = 0;
  {
    mt::store weights(job);
    train step(weights, ax(ranks::count()));
    run_steps(step, 1);
    spans = step.recorded()[0]->spans().size();
    run_steps(step, 2);
    CHECK(step.recorded()[0]->steps() == 2);  // without the first one
    CHECK(step.recorded()[0]->forgotten() == 1);
    CHECK(step.recorded()[0]->spans().size() == 2 * spans);
  }
  unsetenv("MESHTENSOR_TRACE");
  if (!job.is_root()) return;
  std::ifstream in(path);
  std::stringstream content;
  content << in.rdbuf();
  auto const trace = meshtensor_test::checked(content.str());
  CHECK(static_cast<int>(trace.bars.size()) == ranks::count());
  for (auto const& [rank, bars] : trace.bars) CHECK(bars.size() == 2 * spans);
  std::filesystem::remove(path);
}
