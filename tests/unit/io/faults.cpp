// SPDX-License-Identifier: Apache-2.0
// A save that fails, or is the last thing that a process does, at any call of the system: what was saved before is
// there, or what was being saved, whole; and the training can go on.
//
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <limits>
#include <utility>

#include "meshtensor/io/checkpoint.hpp"
#include "support/faults.hpp"
#include "support/folder.hpp"
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;
using meshtensor_test::own_folder;
using meshtensor_test::sentence;

namespace {

using stepping = mt::executable<grow_and_look, grow, mesh, spread, mt::reference_device>;

// In turns, so that a process that is forked has all of the job.
struct training {
  void once() { step(mt::feed<"x">(std::vector<float>(16, 1))); }
  auto table() { return weights.get<float>("table"); }
  mt::job job = mt::job::in_lockstep();
  mt::store weights{job};
  stepping step{weights, batch(4), data(2)};
};
/// What a process does that comes later: which step there is, and whether its values are those of that step.
std::uint64_t step_found(training& reader, std::string const& run, std::vector<mt::any_array<float>> const& tables) {
  mt::load(reader.weights, run);
  CHECK(reader.table() == tables.at(reader.weights.step()));
  CHECK(reader.weights.get<std::int64_t>("inner/count").item() == static_cast<std::int64_t>(reader.weights.step()));
  return reader.weights.step();
}

}  // namespace

TEST_CASE("killed at any call, of the first save and of one that takes the place of another") {
  training reader;
  std::vector<mt::any_array<float>> tables;
  {
    training t;
    for (int i = 0; i < 5; ++i, t.once()) tables.push_back(t.table());
  }
  int tried = 0, of_new = 0;
  for (bool const in_background : {false, true})
    for (int at = 0;; ++at, ++tried) {
      own_folder const run;
      pid_t const child = ::fork();
      if (child == 0) {
        training t;
        mt::checkpoints keep(t.weights, run.path(), {.every = 1, .keep = 1, .in_background = in_background});
        t.once(), keep.after_step();
        t.once(), keep.after_step();
        keep.finish();
        faults::begin({faults::kind::kills, at, 0, run.path().c_str()});
        t.once(), keep.after_step();
        keep.finish();
        ::_exit(0);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      INFO(at);
      std::uint64_t const step = step_found(reader, run.path(), tables);
      CHECK((step == 2 || step == 3));
      of_new += step == 3;
      if (WIFEXITED(status)) {
        CHECK(step == 3);
        break;
      }
      CHECK(WTERMSIG(status) == SIGKILL);
      // The next process goes on, and cleans up.
      training t;
      mt::checkpoints keep(t.weights, run.path(), {.keep = 1});
      keep.resume();
      t.once();
      keep.save(), keep.finish();
      CHECK(step_found(reader, run.path(), tables) == step + 1);
      CHECK(std::distance(std::filesystem::directory_iterator(run.path()), {}) == 1);
    }
  MESSAGE(tried << " calls after which a process was killed, " << of_new << " of them after the commit");
  CHECK(tried >= 60);
}

TEST_CASE("the first save of a run, killed at any call") {
  training reader;
  int tried = 0;
  for (int at = 0;; ++at, ++tried) {
    own_folder const run;
    pid_t const child = ::fork();
    if (child == 0) {
      training t;
      t.once();
      faults::begin({faults::kind::kills, at, 0, run.path().c_str()});
      mt::save(t.weights, run / "new");
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    training t;
    bool const is_there = mt::checkpoints(t.weights, run / "new").resume().has_value();
    if (is_there) CHECK(t.weights.step() == 1);
    if (!WIFEXITED(status)) continue;
    CHECK(is_there);
    break;
  }
  CHECK(tried >= 30);
}

TEST_CASE("any call that fails is an error; the one before stays, the training goes on, the next is saved") {
  training reader;
  std::vector<mt::any_array<float>> tables;
  {
    training t;
    for (int i = 0; i < 5; ++i, t.once()) tables.push_back(t.table());
  }
  int tried = 0, told = 0;
  for (bool const in_background : {false, true})
    for (int const problem : {ENOSPC, EIO, EDQUOT, EROFS})
      for (int at = 0;; ++at, ++tried) {
        own_folder const run;
        training t;
        mt::checkpoints keep(t.weights, run.path(), {.every = 1, .keep = 1, .in_background = in_background});
        t.once(), keep.after_step(), keep.finish();
        t.once();
        faults::begin({faults::kind::fails, at, problem, run.path().c_str()});
        std::string const said = sentence([&] { keep.after_step(), keep.finish(); });
        bool const met = faults::met;
        faults::end();
        INFO(at << " " << said);
        std::uint64_t const step = step_found(reader, run.path(), tables);
        // What cannot be removed stays, and is no reason to fail.
        if (said.empty()) CHECK(step == 2);
        else CHECK((said.starts_with("meshtensor C01: '") || said.starts_with("meshtensor C02: '")));
        told += !said.empty();
        CHECK((step == 1 || step == 2));
        t.once(), keep.after_step(), keep.finish();
        CHECK(step_found(reader, run.path(), tables) == 3);
        if (!met) break;
      }
  MESSAGE(tried << " calls that failed, " << told << " of them told");
  CHECK(told >= 200);
}

TEST_CASE("a save that may fail is a warning; the one before stays, a later one is saved") {
  std::vector<std::string> said;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& s) { said.push_back(s); });
  training reader;
  std::vector<mt::any_array<float>> tables;
  {
    training t;
    for (int i = 0; i < 5; ++i, t.once()) tables.push_back(t.table());
  }
  int told = 0;
  for (bool const in_background : {false, true})
    for (int at = 0;; ++at) {
      own_folder const run;
      training t;
      mt::checkpoints keep(t.weights, run.path(),
                           {.every = 1, .keep = 1, .in_background = in_background, .may_fail = true});
      t.once(), keep.after_step(), keep.finish();
      std::string const last = keep.last();
      t.once();
      said.clear();
      faults::begin({faults::kind::fails, at, ENOSPC, run.path().c_str()});
      CHECK(sentence([&] { keep.after_step(), keep.finish(); }) == "");
      bool const met = faults::met;
      faults::end();
      std::uint64_t const step = step_found(reader, run.path(), tables);
      CHECK(static_cast<std::size_t>(keep.failed()) == said.size());
      CHECK(said.size() <= 1);
      if (said.empty()) CHECK(step == 2);
      else
        CHECK(
            said[0].starts_with("C01: the checkpoint of step 2 is not saved, and the program goes on: '" + run.path()));
      CHECK((keep.last() == last) == !said.empty());
      told += !said.empty();
      t.once(), keep.after_step(), keep.finish();
      CHECK(step_found(reader, run.path(), tables) == 3);
      if (!met) break;
    }
  mt::on_warning() = before;
  CHECK(told >= 20);
  // What is no fault of the disk is an error still.
  own_folder const run;
  training t;
  mt::checkpoints keep(t.weights, run.path(), {.may_fail = true});
  auto table = t.table();
  table.data()[0] = std::numeric_limits<float>::quiet_NaN();
  t.weights.set("table", table);
  CHECK(sentence([&] { keep.save(), keep.finish(); }).starts_with("meshtensor C09: "));
  CHECK(keep.failed() == 0);
}

TEST_CASE("a call that writes or reads one byte of many") {
  training reader;
  for (int at = 0;; ++at) {
    own_folder const run;
    training t;
    t.once();
    faults::begin({faults::kind::cuts, at, 0, run.path().c_str()});
    CHECK(sentence([&] { mt::save(t.weights, run.path()); }) == "");
    bool const met = faults::met;
    faults::begin({faults::kind::cuts, at, 0, run.path().c_str()});
    CHECK(sentence([&] { mt::load(reader.weights, run.path()); }) == "");
    CHECK(reader.table() == t.table());
    bool const also = faults::met;
    faults::end();
    if (!met && !also) break;
  }
}

TEST_CASE("a read that fails is an error, and the store is as it was") {
  own_folder const run;
  training t;
  t.once();
  mt::save(t.weights, run.path());
  training reader;
  reader.once(), reader.once();
  auto const before = reader.table();
  int tried = 0;
  for (int at = 0;; ++at, ++tried) {
    training r;
    r.once(), r.once();
    faults::begin({faults::kind::fails, at, EIO, run.path().c_str()});
    std::string const said = sentence([&] { mt::load(r.weights, run / "0001-step-1"); });
    bool const met = faults::met;
    faults::end();
    if (!met) break;
    INFO(said);
    CHECK(said.starts_with("meshtensor C02: '" + run.path()));
    bool const half = said.ends_with("the store has a part of these values now: load them again");
    if (!half) CHECK(r.table() == before);
    mt::load(r.weights, run.path());
    CHECK(r.table() == t.table());
  }
  CHECK(tried > 10);
}
