// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a run: saved beside the steps, kept in rotation, resumed; what does not fit is one sentence, and the
// store stays as it was.
//
// passes: start-up
// needs: io
#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/io/checkpoint/folder.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "support/folder.hpp"
#include "support/kept_warnings.hpp"
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;
using meshtensor_test::kept_warnings;
using meshtensor_test::own_folder;
using meshtensor_test::sentence;

namespace {

using stepping = mt::executable<grow_and_look, grow, mesh, spread, mt::reference_device>;
using looking = mt::executable<grow_and_look, look, mesh, spread, mt::reference_device>;

struct training {
  explicit training(std::uint64_t seed = 7) : weights(job, seed) {}
  void once() { step(mt::feed<"x">(std::vector<float>(16, 1))); }
  float corner() { return weights.get<float>("table")(rows(0), columns(0)); }

  mt::job job = mt::job::as_threads();
  mt::store weights;
  stepping step{weights, batch(4), data(2)};
};

std::vector<std::string> folders(own_folder const& run) {
  std::vector<std::string> all;
  for (auto const& n : mt::io::checkpoints_in(run.path())) all.push_back(n.text());
  return all;
}

}  // namespace

TEST_CASE("every second step, the newest three stay") {
  own_folder const run;
  training t;
  mt::checkpoints keep(t.weights, run.path(), {.every = 2, .keep = 3});
  CHECK(!keep.resume());
  int asked = 0;
  float eighth = 0;
  for (int i = 1; i <= 9; ++i) {
    t.once();
    if (i == 8) eighth = t.corner();
    keep.after_step([&] { return ++asked, mt::notes{{"i", i}}; });
  }
  keep.finish();
  CHECK(asked == 4);
  CHECK(folders(run) == std::vector<std::string>{"0004-step-8", "0003-step-6", "0002-step-4"});
  CHECK(keep.last() == run / "0004-step-8");

  training u(1);
  mt::checkpoints again(u.weights, run.path(), {.every = 2, .keep = 2});
  auto const start = again.resume();
  REQUIRE(start);
  CHECK(start->step() == 8);
  CHECK(start->get<int>("i") == 8);
  CHECK(start->path() == run / "0004-step-8");
  CHECK(u.corner() == eighth);
  CHECK(u.weights.seed() == 7);
  again.after_step();  // the step that is there already
  CHECK(folders(run).size() == 3);
  u.once(), again.after_step();
  u.once(), again.after_step();
  again.finish();
  CHECK(folders(run) == std::vector<std::string>{"0005-step-10", "0004-step-8"});
}

TEST_CASE("mt::save removes checkpoints only if it is told how many to keep") {
  own_folder const run;
  training t;
  for (int i = 0; i < 5; ++i) t.once(), mt::save(t.weights, run.path(), {}, {.nan = true});
  CHECK(folders(run).size() == 5);
  mt::save(t.weights, run.path(), {}, {.keep = 2});
  CHECK(folders(run) == std::vector<std::string>{"0006-step-5", "0005-step-5"});
  for (int i = 0; i < 5; ++i) mt::checkpoints(t.weights, run.path()).save();
  CHECK(folders(run).size() == 3);
}

TEST_CASE("if several steps run between two calls, none of the saves that are due is left out") {
  own_folder const run;
  training t;
  t.once();  // so that the calls see odd steps alone
  mt::checkpoints keep(t.weights, run.path(), {.every = 4, .keep = 0});
  for (int i = 0; i < 4; ++i) t.once(), t.once(), keep.after_step();
  keep.finish();
  CHECK(folders(run) == std::vector<std::string>{"0002-step-9", "0001-step-5"});
  mt::load(t.weights, run / "0001-step-5");
  keep.after_step();  // after a load, no multiple was passed
  t.once(), keep.after_step();
  REQUIRE(keep.resume());
  t.once(), t.once(), keep.after_step();
  t.once(), t.once(), keep.after_step();
  keep.finish();
  CHECK(folders(run) == std::vector<std::string>{"0003-step-13", "0002-step-9", "0001-step-5"});
  training u;
  mt::checkpoints other(u.weights, run / "other", {.every = 4});
  mt::load(u.weights, run.path());
  u.once(), other.after_step(), other.finish();
  CHECK(other.last().empty());
}

TEST_CASE("what was begun and is no checkpoint is passed over, then removed") {
  own_folder const run;
  training t;
  t.once();
  mt::save(t.weights, run.path());
  std::filesystem::create_directories(run / "0002-step-5");
  meshtensor_test::set_content(run / "0002-step-5/rank-0000-of-0004.safetensors.1-0.part", "half");
  std::filesystem::create_directories(run / "something-else");
  meshtensor_test::set_content(run / "0003-step-6", "a file");
  CHECK(mt::load(t.weights, run.path()).step() == 1);
  CHECK(mt::save(t.weights, run.path()) == run / "0004-step-1");
  CHECK(folders(run) == std::vector<std::string>{"0004-step-1", "0003-step-6", "0001-step-1"});
  CHECK(std::filesystem::exists(run / "something-else"));
}

TEST_CASE("a save leaves the checkpoint that another object is writing") {
  own_folder const run;
  training t;
  mt::checkpoints keep(t.weights, run.path(), {.every = 3, .keep = 3});
  for (int i = 1; i <= 9; ++i) {
    t.once(), keep.after_step();
    if (i % 3 == 0) mt::save(t.weights, run / ".");
  }
  keep.finish();
  CHECK(folders(run) == std::vector<std::string>{"0006-step-9", "0005-step-9", "0004-step-6", "0003-step-6"});
  for (auto const& name : folders(run)) CHECK(std::filesystem::exists(run / (name + "/index.json")));
}

TEST_CASE("the last that was saved is the newest, not the one of the greatest step") {
  own_folder const run;
  training t;
  t.once(), mt::save(t.weights, run.path());
  t.once(), mt::save(t.weights, run.path());
  mt::load(t.weights, run / "0001-step-1");
  CHECK(t.weights.step() == 1);
  mt::save(t.weights, run.path());
  training u;
  CHECK(mt::load(u.weights, run.path()).path() == run / "0003-step-1");
}

TEST_CASE("what is saved is what was there, whatever the steps do meanwhile") {
  own_folder const run;
  training t;
  mt::checkpoints keep(t.weights, run.path(), {.every = 1, .keep = 0});
  std::vector<float> corners;
  for (int i = 0; i < 20; ++i) {
    t.once();
    corners.push_back(t.corner());
    keep.after_step();
  }
  keep.finish();
  for (auto const& n : mt::io::checkpoints_in(run.path())) {
    training u;
    mt::load(u.weights, run / n.text());
    CHECK(u.corner() == corners[n.step - 1]);
  }
  CHECK(folders(run).size() == 20);
}

TEST_CASE("values that are not there yet wait, and are read when a program names them") {
  own_folder const run;
  training t;
  t.once(), t.once();
  mt::save(t.weights, run.path(), {{"x", 1}});
  mt::store later(t.job);
  auto const found = mt::load(later, run.path());
  CHECK(later.names().empty());
  CHECK(found.left() == std::vector<std::string>{"inner/count", "table"});
  {
    mt::eager s(later);  // sees what waits
    auto const doubled = s.run(look{}).get<float>("twice");
    CHECK(doubled(rows(0), columns(0)) == 2 * t.corner());
  }
  CHECK(found.left() == std::vector<std::string>{"inner/count", "table"});  // the store has neither of them
  looking show(later, data(2));
  CHECK(show().get<"twice">().gather()(rows(1), columns(1)) == 2 * t.weights.get<float>("table")(rows(1), columns(1)));
  CHECK(found.left() == std::vector<std::string>{"inner/count"});
  CHECK(sentence([&] { found.require_all(); }) ==
        "meshtensor C10: the checkpoint '" + (run / "0001-step-2") + "' has 'inner/count' that no executable has");
  kept_warnings s;
  mt::checkpoints keep(later, run.path());
  keep.save();
  keep.save();
  CHECK(s.said ==
        std::vector<std::string>{"C10: the checkpoint '" + (run / "0001-step-2") +
                                 "' has 'inner/count' that no executable has: the checkpoints from now on will "
                                 "not have it"});
}

namespace {
struct renamed {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.parameter("tabel", rows, columns) * 2); }
};
struct transposed {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.parameter("table", columns, rows) * 2); }
};
struct wide {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", cast<mt::f32>(s.state("table", mt::f64, rows, columns)));
  }
};
template <class Program>
using as = mt::executable<Program, mesh, spread, mt::reference_device>;
}  // namespace

TEST_CASE("values that do not fit are refused, with what was probably meant; the store stays") {
  own_folder const run;
  training t;
  t.once();
  mt::save(t.weights, run.path());
  std::string const what = "the checkpoint '" + (run / "0001-step-1") + "' has ";

  auto const refused = [&]<class Program>(Program) {
    mt::store first(t.job, 3), later(t.job, 3);
    as<Program> made(first, data(1));
    auto const names = first.names();
    std::string bytes(96 * 2, ' ');
    auto const all = [&] {
      first.copy_out(names[0], bytes.data());
      return bytes + std::to_string(first.step()) + std::to_string(first.seed());
    };
    std::string const before = all();
    std::string const said = sentence([&] { mt::load(first, run.path()); });
    CHECK(all() == before);
    mt::load(later, run.path());
    CHECK(sentence([&] { as<Program>(later, data(1)); }) == said);
    return said;
  };
  CHECK(refused(renamed{}) == "meshtensor C07: the checkpoint '" + (run / "0001-step-1") +
                                  "' has no value 'tabel', f32[rows=4, columns=6/model=2]; did you mean 'table'?");
  CHECK(refused(other_dims{}) ==
        "meshtensor C08: " + what +
            "'table' as f32[rows=4, columns=6/model=2], but the program has f32[columns=6/model=2]");
  CHECK(refused(wide{}) ==
        "meshtensor C08: " + what +
            "'table' as f32[rows=4, columns=6/model=2], but the program has f64[rows=4, columns=6/model=2]");

  mt::store first(t.job, 3), later(t.job, 3);
  as<renamed> made(first, data(1));
  auto const before = first.get<float>("tabel");
  mt::load(first, run.path(), {.begin_missing = true});
  CHECK(first.get<float>("tabel") == before);
  mt::load(later, run.path(), {.only = [](std::string const& name) { return name != "tabel"; }});
  as<renamed> also(later, data(1));
  mt::store fresh(t.job, 7);
  as<renamed> plain(fresh, data(1));
  CHECK(later.get<float>("tabel") == fresh.get<float>("tabel"));  // as the program says, from the seed that was saved
}

TEST_CASE("dims may stand in another order") {
  own_folder const run;
  training t;
  mt::save(t.weights, run.path());
  mt::store other(t.job);
  as<transposed> made(other, data(1));
  mt::load(other, run.path());
  mt::array<float, columns, rows> const wanted = mt::array<float, rows, columns>(t.weights.get<float>("table"));
  CHECK(other.get<float>("table") == wanted);
}

TEST_CASE("a value that is NaN is not saved, and what was saved stays; nor is one loaded") {
  own_folder const run;
  training t;
  mt::checkpoints keep(t.weights, run.path(), {.every = 1, .keep = 1});
  t.once(), keep.after_step(), keep.finish();
  auto table = t.weights.get<float>("table");
  table(rows(1), columns(2)) = std::numeric_limits<float>::quiet_NaN();
  t.weights.set("table", table);
  t.once();
  std::string const said = sentence([&] { keep.after_step(), keep.finish(); });
  CHECK(said.starts_with("meshtensor C09: '" + (run / "0002-step-2")));
  CHECK(
      said.ends_with("' is not written: 'table' has NaN, first as element 5 of this rank's block; the checkpoints "
                     "before are kept"));
  CHECK(folders(run) == std::vector<std::string>{"0001-step-1"});

  std::string const path = mt::save(t.weights, run.path(), {}, {.keep = 0, .nan = true});
  training u(1);
  float const before = u.corner();
  CHECK(sentence([&] { mt::load(u.weights, path); }).find("has NaN in 'table', first as element 5") !=
        std::string::npos);
  CHECK(u.corner() == before);
  kept_warnings s;
  CHECK(mt::load(u.weights, run.path()).path() == run / "0001-step-1");
  CHECK(s.said.size() == 1);
  mt::load(u.weights, path, {.nan = true});
  CHECK(std::isnan(u.weights.get<float>("table")(rows(1), columns(2))));
}

TEST_CASE("what cannot be is said") {
  own_folder const run;
  training t;
  CHECK(sentence([&] { mt::load(t.weights, run / "absent"); }) ==
        "meshtensor C06: there is no checkpoint in '" + (run / "absent") + "'");
  mt::store empty(t.job);
  CHECK(sentence([&] { mt::save(empty, run.path()); }) ==
        "meshtensor C15: a checkpoint cannot be written: the store has no values yet");
  CHECK(sentence([&] { mt::checkpoints(t.weights, run.path(), {.every = -1}); }).starts_with("meshtensor C12"));
  meshtensor_test::set_content(run / "file", "");
  CHECK(sentence([&] { mt::save(t.weights, run / "file"); }).starts_with("meshtensor C01: '" + (run / "file")));
  CHECK(sentence([&] { mt::load(t.weights, run / "file"); }) ==
        "meshtensor C02: '" + (run / "file") + "' cannot be read: Not a directory");
  CHECK(folders(run).empty());
}

TEST_CASE("a save that nobody waits for is finished all the same") {
  own_folder const run;
  training t;
  {
    mt::checkpoints keep(t.weights, run.path());
    keep.save();
  }
  CHECK(mt::load(t.weights, run.path()).step() == 0);
}

TEST_CASE("only the values that are meant: the others begin as the program says, or stay") {
  auto const inner = [](std::string const& name) { return name.starts_with("inner/"); };
  own_folder const run;
  training t;
  t.once(), t.once();
  mt::checkpoints keep(t.weights, run.path(), {.only = inner});
  keep.save(), keep.finish();
  CHECK(mt::load(t.weights, run.path(), {.begin_missing = true}).step() == 2);
  {
    mt::store weights(t.job, 9);
    mt::checkpoints again(weights, run.path(), {.only = inner});
    REQUIRE(again.resume());
    stepping step(weights, batch(4), data(2));
    CHECK(weights.get<std::int64_t>("inner/count").item() == 2);
    CHECK(weights.step() == 2);
    training fresh;
    CHECK(weights.get<float>("table") == fresh.weights.get<float>("table"));
  }
  training u;
  u.once();
  auto const table = u.weights.get<float>("table");
  CHECK(sentence([&] { mt::load(u.weights, run.path()); }).starts_with("meshtensor C07: "));
  mt::checkpoints(u.weights, run.path(), {.only = inner}).resume();
  CHECK(u.weights.get<float>("table") == table);
  CHECK(u.weights.get<std::int64_t>("inner/count").item() == 2);
  mt::checkpoints none(u.weights, run.path(), {.only = [](std::string const&) { return false; }});
  CHECK(sentence([&] { none.save(); }).starts_with("meshtensor C12: `only` leaves no value to save, of "));
  CHECK(folders(run).size() == 1);
}
