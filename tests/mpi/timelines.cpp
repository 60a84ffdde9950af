// SPDX-License-Identifier: Apache-2.0
// What steps took, by node: the table of one processor adds up, and the bars of all ranks lie on one time axis.
// passes: start-up
// needs: cpu
// ranks: 1 2 4
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/inspect/environment.hpp"
#include "meshtensor/inspect/trace_events.hpp"
#include "ranks.hpp"
#include "support/programs.hpp"

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

struct bar {
  int rank;
  double begin, duration;
};
/// Reads what trace_events writes, line by line; a line that is not as it should be is a failure.
std::vector<bar> bars_of(std::string const& text) {
  std::istringstream in(text);
  std::string line, last;
  std::vector<bar> all;
  while (std::getline(in, line)) {
    last = line;
    auto const at = line.find("\"ph\": \"X\"");
    if (at == line.npos) continue;
    bar b{-1, -1, -1};
    REQUIRE(std::sscanf(line.c_str() + at,
                        "\"ph\": \"X\", \"pid\": 0, \"tid\": %d, \"ts\": %lf, \"dur\": %lf, \"args\"", &b.rank,
                        &b.begin, &b.duration) == 3);
    REQUIRE(line.rfind("{\"name\": \"", 0) == 0);
    all.push_back(b);
  }
  CHECK(text.rfind("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", 0) == 0);
  CHECK(last == "]}");
  return all;
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

  std::string const text = mt::trace_events(step);
  std::map<int, std::vector<bar>> by_rank;
  for (bar const& b : bars_of(text)) by_rank[b.rank].push_back(b);
  CHECK(static_cast<int>(by_rank.size()) == ranks::count());
  for (auto const& [rank, bars] : by_rank) {
    CHECK(bars.size() == held[0]->spans().size());  // all ranks run one plan
    double sum = 0;
    for (bar const& b : bars) {
      CHECK(b.begin >= 0);
      CHECK(b.duration >= 0);
      sum += b.duration;
      for (bar const& o : bars) {  // one lies in another, or beside it
        double const rounding = 0.002;
        bool const within = o.begin >= b.begin - rounding && o.begin + o.duration <= b.begin + b.duration + rounding;
        bool const around = b.begin >= o.begin - rounding && b.begin + b.duration <= o.begin + o.duration + rounding;
        bool const apart = o.begin >= b.begin + b.duration - rounding || b.begin >= o.begin + o.duration - rounding;
        if (!within && !around && !apart) FAIL_CHECK("bars of rank " << rank << " overlap");
      }
    }
    CHECK(sum > 0);
  }
  step.record();
  CHECK(step.recorded()[0]->steps() == 0);
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
    CHECK(bars_of(content.str()).size() ==
          step.recorded()[0]->spans().size() * static_cast<std::size_t>(ranks::count()));
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
    run_steps(step, 2);  // the first one is left out
    spans = step.recorded()[0]->spans().size();
  }
  unsetenv("MESHTENSOR_TRACE");
  if (!job.is_root()) return;
  std::ifstream in(path);
  std::stringstream content;
  content << in.rdbuf();
  CHECK(bars_of(content.str()).size() == spans * static_cast<std::size_t>(ranks::count()));
  std::filesystem::remove(path);
}
