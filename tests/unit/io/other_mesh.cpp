// SPDX-License-Identifier: Apache-2.0
// What one mesh and layout has saved, any other loads, bit for bit; before executables are made, or after.
// passes: start-up
// needs: io
#include <doctest/doctest.h>

#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/io/file.hpp"
#include "meshtensor/io/safetensors.hpp"
#include "spread_values.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;

namespace {
struct place {
  int layout, on_data, on_model;
};
constexpr place places[] = {{0, 1, 1}, {0, 2, 2}, {0, 3, 1}, {0, 4, 3}, {0, 8, 2}, {1, 1, 3},
                            {1, 2, 6}, {2, 2, 4}, {2, 3, 2}, {2, 1, 6}, {3, 2, 3}, {3, 6, 1},
                            {3, 4, 4}, {0, 5, 1}, {1, 2, 5}, {2, 7, 1}, {3, 3, 5}};  // the last four with unequal parts
}  // namespace

TEST_CASE("from every place to every other") {
  auto const job = mt::job::in_lockstep();
  int pairs = 0;
  for (place const& from : places) {
    meshtensor_test::own_folder const folder;
    spread_values::held one(job, from.layout, from.on_data, from.on_model, 9);
    for (int i = 0; i < 3; ++i) one.run();
    auto const saved = one.all();
    std::string const path = mt::save(one.weights, folder.path(), {{"position", 77}});
    CHECK(path == folder / "0001-step-3");
    for (place const& to : places) {
      INFO(from.layout << from.on_data << from.on_model << " " << to.layout << to.on_data << to.on_model);
      spread_values::held other(job, to.layout, to.on_data, to.on_model, 1);
      auto const found = mt::load(other.weights, folder.path());
      CHECK(other.all() == saved);
      CHECK(other.weights.step() == 3);
      CHECK(other.weights.seed() == 9);
      CHECK(found.get<int>("position") == 77);
      found.require_all();

      if (&to - places > 3) continue;
      mt::store later(job);  // what is there first is the checkpoint
      auto const waits = mt::load(later, path);
      CHECK(waits.left().size() == saved.size());
      spread_values::stepping<spread_values::by_rows> step(later, spread_values::data(to.on_data),
                                                           spread_values::model(to.on_model));
      for (auto const& [label, bytes] : saved) {
        std::string now(bytes.size(), ' ');
        later.copy_out(label, now.data());
        CHECK(now == bytes);
      }
      waits.require_all();
      ++pairs;
    }
  }
  CHECK(pairs >= 20);
}

TEST_CASE("the steps after a restart are those that would have been") {
  meshtensor_test::own_folder const folder;
  auto const job = mt::job::in_lockstep();
  spread_values::held one(job, 0, 2, 3);
  one.run();
  mt::save(one.weights, folder.path());
  spread_values::held two(job, 0, 2, 3, 1);
  mt::load(two.weights, folder.path());
  for (int i = 0; i < 4; ++i) one.run(), two.run();
  CHECK(one.all() == two.all());
  CHECK(one.weights.step() == two.weights.step());
}

TEST_CASE("files are the same from threads and from processors that take turns") {
  meshtensor_test::own_folder const folder;
  for (auto const* how : {"turns", "threads"}) {
    auto const job = how[1] == 'u' ? mt::job::in_lockstep() : mt::job::as_threads();
    spread_values::held one(job, 3, 2, 2);
    one.run();
    mt::save(one.weights, folder / how);
  }
  int files = 0;
  for (auto const& f : std::filesystem::directory_iterator(folder / "turns/0001-step-1")) {
    std::string const name = f.path().filename();
    CHECK(meshtensor_test::content(f.path()) == meshtensor_test::content(folder / ("threads/0001-step-1/" + name)));
    ++files;
  }
  CHECK(files == 5);
}

TEST_CASE("no file has a block without elements") {
  meshtensor_test::own_folder const folder;
  auto const job = mt::job::in_lockstep();
  spread_values::held one(job, 2, 5, 5);  // 24 rows
  auto const saved = one.all();
  std::string const path = mt::save(one.weights, folder.path());
  int blocks = 0;
  for (auto const& f : std::filesystem::directory_iterator(path)) {
    if (f.path().extension() != ".safetensors") continue;
    for (auto const& [label, t] : mt::io::read_safetensors(mt::io::file(f.path())).tensors) {
      CAPTURE(label);
      CHECK(t.end > t.begin);
      blocks += label.starts_with("wide");
    }
  }
  CHECK(blocks == 24);
  spread_values::held other(job, 0, 2, 3, 1);
  mt::load(other.weights, path).require_all();
  CHECK(other.all() == saved);
}

TEST_CASE("each block is in one file, and every processor writes some") {
  meshtensor_test::own_folder const folder;
  auto const job = mt::job::in_lockstep();
  spread_values::held one(job, 1, 4, 2);
  std::string const path = mt::save(one.weights, folder.path());
  std::int64_t values = 0, least = 1 << 30, most = 0, elements = 0;
  for (auto const& [label, s] : one.weights.values()) values += s.bytes();
  for (auto const& f : std::filesystem::directory_iterator(path)) {
    if (f.path().extension() != ".safetensors") continue;
    mt::io::file const opened(f.path());
    std::int64_t const here = opened.size() - mt::io::read_safetensors(opened).bytes;
    least = std::min(least, here), most = std::max(most, here), elements += here;
  }
  CHECK(elements == values);
  CHECK(least > 0);
  CHECK(most == one.weights.values().at("b").bytes() / 2);  // the largest block
}
