// SPDX-License-Identifier: Apache-2.0
// A store holds each value once, whoever uses it; reads and writes it by name; says what it has when a name is wrong.
#include <doctest/doctest.h>

#include "small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

namespace {
std::string sentence(auto const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "nothing was thrown";
}
using stepping = mt::executable<grow_and_look, grow, mesh, spread>;
using looking = mt::executable<grow_and_look, look, mesh, spread>;
}  // namespace

TEST_CASE("two executables, one set of parameters in memory") {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  stepping step(weights, batch(2), data(2));
  std::vector<void*> before;
  for (std::size_t k = 0; k < 4; ++k) before.push_back(weights.values().at("table").block_of(k));
  looking show(weights, data(2));
  CHECK(weights.names() == std::vector<std::string>{"inner/count", "table"});
  for (std::size_t k = 0; k < 4; ++k) CHECK(weights.values().at("table").block_of(k) == before[k]);

  weights.set("table", counted());
  CHECK(show().get<"twice">().gather()(rows(2), columns(3)) == 30);
  step(mt::feed<"x">(std::vector<float>(8, 1)), mt::set<"step">(100));
  CHECK(show().get<"twice">().gather()(rows(2), columns(3)) == 230);
  CHECK(weights.step() == 1);
  CHECK(weights.counts().steps == mt::counts_by_name{{"small::grow", 1}, {"small::look", 2}});
  CHECK(show.steps() == 2);
  step.exclude_from_step_count(), step();
  CHECK(step.steps() == 2);
  CHECK(weights.step() == 1);
}

TEST_CASE("values are read and written whole, by name") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  looking show(weights, data(1));
  auto const start = weights.get<float>("table");
  CHECK(start.dims().size() == 2);
  CHECK(start.extent(columns) == 6);
  weights.set("table", counted());
  CHECK(weights.get<float>("table") == counted());
  mt::array<float, columns, rows> const transposed = counted();
  weights.set("table", transposed);
  CHECK(weights.get<float>("table") == counted());
  weights.set("table", std::vector<float>(24, 3));
  CHECK(show().get<"twice">().gather()(rows(3), columns(5)) == 6);
  CHECK(weights.values().at("table").bytes() == 96);
  CHECK(weights.values().at("table").local_bytes() == 48);
  CHECK(text_of(weights) == "table: f32[rows=4, columns=6/model=2], 96 bytes, 48 on each rank\n");
}

TEST_CASE("initial values depend on the seed and on nothing else") {
  auto job = mt::job::in_lockstep();
  mt::store one(job, 7), two(job, 7), other(job, 8);
  looking a(one, data(1)), b(two, data(3)), c(other, data(1));
  CHECK(one.get<float>("table") == two.get<float>("table"));
  CHECK(!(one.get<float>("table") == other.get<float>("table")));
}

TEST_CASE("what the store does not hold is said") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  CHECK(sentence([&] { weights.get<float>("table"); }) ==
        "meshtensor R13: the store has no value 'table': the executables that are made on it name its values");
  stepping step(weights, batch(2), data(1));
  CHECK(sentence([&] { weights.get<float>("tabel"); }) ==
        "meshtensor R13: the store has no value 'tabel'; did you mean 'table'?");
  CHECK(sentence([&] { weights.get<std::int64_t>("count"); }) ==
        "meshtensor R13: the store has no value 'count'; did you mean 'inner/count'?");
  CHECK(sentence([&] { weights.get<std::int64_t>("iner/count"); }) ==
        "meshtensor R13: the store has no value 'iner/count'; did you mean 'inner/count'?");
  CHECK(sentence([&] { weights.get<std::int64_t>("cuont"); }) ==
        "meshtensor R13: the store has no value 'cuont'; did you mean 'inner/count'?");
  CHECK(sentence([&] { weights.get<float>("something"); }) == "meshtensor R13: the store has no value 'something'");
  CHECK(sentence([&] { weights.get<double>("table"); }) ==
        "meshtensor R14: the store holds 'table' as f32[rows=4, columns=6/model=2], not as f64");
  CHECK(sentence([&] { weights.set("table", std::vector<float>(5)); }).starts_with("meshtensor R11: "));
  CHECK(
      sentence([&] { weights.set("table", mt::array<float, rows, batch>(batch(6))); }).starts_with("meshtensor R12: "));
}

TEST_CASE("executables that do not fit together are refused") {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  looking show(weights, data(1));
  CHECK(sentence([&] { mt::executable<grow_and_look, look, mesh, by_rows>(weights, data(1)); }) ==
        "meshtensor R04: the store holds 'table' as f32[rows=4, columns=6/model=2], but another layout wants "
        "f32[rows=4/model=2, columns=6]: the one replicates 'rows', the other shards it over model=2; programs that "
        "share parameters need the same rule for it");
  CHECK(sentence([&] { mt::executable<other_dims, mesh, spread>(weights, data(1)); })
            .starts_with("meshtensor R04: the store holds 'table' as f32[rows=4, columns=6/model=2], but a program "
                         "reads it as f32[columns=6/model=2]"));
  CHECK(sentence([&] { looking(weights, data(2)); }).starts_with("meshtensor R04: the store holds 'table' on 2"));
}
