// SPDX-License-Identifier: Apache-2.0
// Checkpoints of ranks: the files are those of one process, any other number of ranks loads them, each reading what it
// needs; and what goes wrong on one rank goes wrong on all.
// passes: start-up
// ranks: 2 3 4 6
// sanitize: yes
// needs: io
// timeout: 300
#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/io/checkpoint/block_check.hpp"
#include "meshtensor/io/checkpoint/index.hpp"

#include <doctest/doctest.h>

#include "ranks.hpp"
#include "support/faults.hpp"
#include "support/folder.hpp"
#include "unit/io/spread_values.hpp"

namespace mt = meshtensor;
using meshtensor_test::content;
using meshtensor_test::sentence;

namespace {

/// One folder for all ranks.
struct shared_folder {
  shared_folder() {
    if (ranks::rank() == 0) mine = std::make_unique<meshtensor_test::own_folder>();
    char text[256] = "";
    if (mine) mine->path().copy(text, 255);
    MPI_Bcast(text, 256, MPI_CHAR, 0, MPI_COMM_WORLD);
    path = text;
  }
  ~shared_folder() { MPI_Barrier(MPI_COMM_WORLD); }
  std::string operator/(std::string const& name) const { return path + "/" + name; }
  std::unique_ptr<meshtensor_test::own_folder> mine;
  std::string path;
};
std::int64_t sum_of_all(std::int64_t mine) {
  std::int64_t sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
bool alike_on_all(std::string const& text) {
  std::int64_t const mine = static_cast<std::int64_t>(std::hash<std::string>()(text) >> 8);
  return sum_of_all(mine) == mine * ranks::count();
}
int last() { return ranks::count() - 1; }

}  // namespace

TEST_CASE("ranks write the files that one process writes") {
  shared_folder const folder;
  mt::job const job(MPI_COMM_WORLD), alone = mt::job::in_lockstep();
  int const on_model = ranks::count() % 2 == 0 ? 2 : 1;
  for (int layout : {0, 1, 3}) {
    std::string const here = folder / ("ranks" + std::to_string(layout)),
                      there = folder / ("one" + std::to_string(layout));
    spread_values::held all(job, layout, ranks::count() / on_model, on_model),
        one(alone, layout, ranks::count() / on_model, on_model);
    mt::checkpoints keep(all.weights, here, {.every = 2, .keep = 2});
    for (int i = 0; i < 7; ++i) {
      all.run(), one.run();
      if (i == 5 && ranks::rank() == 0) mt::save(one.weights, there, {{"i", 5}});
      keep.after_step([&] { return mt::notes{{"i", i}}; });
    }
    keep.finish();
    CHECK(keep.last() == here + "/0003-step-6");
    MPI_Barrier(MPI_COMM_WORLD);
    int files = 0;
    for (auto const& f : std::filesystem::directory_iterator(there + "/0001-step-6")) {
      std::string const name = f.path().filename();
      CHECK(content(f.path()) == content(keep.last() + "/" + name));
      ++files;
    }
    CHECK(files == ranks::count() + 1);
    CHECK(std::distance(std::filesystem::directory_iterator(here), {}) == 2);
  }
}

TEST_CASE("from one process on other meshes, and back") {
  shared_folder const folder;
  mt::job const job(MPI_COMM_WORLD), alone = mt::job::in_lockstep();
  int pairs = 0;
  for (auto const& [layout, on_data, on_model] :
       {std::tuple{0, 1, 1}, {0, 3, 4}, {1, 2, 6}, {2, 2, 4}, {3, 4, 2}, {3, 1, 12}}) {
    std::string const run = folder / std::to_string(pairs);
    spread_values::held one(alone, layout, on_data, on_model, 3);
    one.run(), one.run();
    if (ranks::rank() == 0) mt::save(one.weights, run, {{"n", pairs}});
    MPI_Barrier(MPI_COMM_WORLD);
    auto const saved = one.all();
    for (int to : {0, 1, 2, 3}) {
      spread_values::held all(job, to, to % 2 == 0 ? ranks::count() : 1, to % 2 == 0 ? 1 : ranks::count(), 4);
      auto const found = mt::load(all.weights, run);
      CHECK(all.all() == saved);
      CHECK(all.weights.step() == 2);
      CHECK(found.get<int>("n") == pairs);

      mt::store later(job);
      mt::load(later, run);
      spread_values::stepping<spread_values::by_columns> step(later, spread_values::data(ranks::count()),
                                                              spread_values::model(1));
      for (auto const& [label, bytes] : saved) {
        std::string now(bytes.size(), ' ');
        later.copy_out(label, now.data());
        CHECK(now == bytes);
      }
    }
    ++pairs;
    std::string const again = run + "-again";
    spread_values::held all(job, 2, ranks::count(), 1);
    mt::load(all.weights, run);
    mt::save(all.weights, again);
    spread_values::held other(alone, layout, on_data, on_model);
    mt::load(other.weights, again);
    CHECK(other.all() == saved);
  }
}

namespace {
inline constexpr struct long_dim : mt::dim<"long", 24 << 13> {} long_one;
struct large {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.parameter("x", spread_values::rows, long_one, mt::normal(1));
    s.update(x, x * 2);
  }
};
struct by_long : mt::layout<mt::shard<long_one, spread_values::data>> {};
}  // namespace

TEST_CASE("each rank reads what it needs, and its share of what is looked at") {
  shared_folder const folder;
  mt::job const job(MPI_COMM_WORLD), alone = mt::job::in_lockstep();
  mt::store one(alone, 3), all(job, 4);
  mt::executable<large, spread_values::mesh, by_long, mt::reference_device> whole(one, spread_values::data(1),
                                                                                  spread_values::model(1));
  mt::executable<large, spread_values::mesh, by_long, mt::reference_device> parts(
      all, spread_values::data(ranks::count()), spread_values::model(1));
  if (ranks::rank() == 0) mt::save(one, folder.path);
  MPI_Barrier(MPI_COMM_WORLD);
  faults::begin({faults::kind::none, faults::counts, 0, folder.path.c_str()});
  mt::load(all, folder.path);
  std::int64_t const read = faults::bytes_read;
  faults::end();
  mt::stored const& x = all.values().at("x");
  std::int64_t const headers = 2048, piece = mt::io::piece_bytes;
  CHECK(read <= (x.bytes() / piece / ranks::count() + 1) * piece + x.local_bytes() + headers);
  CHECK(read >= x.local_bytes());
  CHECK(sum_of_all(read) <= 2 * x.bytes() + ranks::count() * headers);
  CHECK(all.get<float>("x") == one.get<float>("x"));
}

TEST_CASE("a rank that cannot write, and all know") {
  shared_folder const folder;
  mt::job const job(MPI_COMM_WORLD);
  spread_values::held all(job, 0, ranks::count(), 1);
  for (bool const in_background : {true, false}) {
    std::string const run = folder / (in_background ? "a" : "b");
    mt::checkpoints keep(all.weights, run, {.every = 1, .keep = 2, .in_background = in_background});
    all.run(), keep.after_step(), keep.finish();
    auto const saved = all.all();
    std::uint64_t const step = all.weights.step();
    for (int failing : {0, last()})
      for (int at : {0, 1, 2, 3, 4}) {
        all.run();
        if (ranks::rank() == failing) faults::begin({faults::kind::fails, at, ENOSPC, "safetensors"});
        int rank = -2;
        std::string said;
        try {
          keep.after_step();
          keep.finish();
        } catch (mt::error const& e) { said = e.what(), rank = e.rank(); }
        faults::end();
        CHECK(said.starts_with("meshtensor C01: '" + run));
        CHECK(said.ends_with("cannot be written: No space left on device"));
        CHECK(alike_on_all(said));
        CHECK(rank == (ranks::rank() == failing ? -1 : failing));
        CHECK(std::distance(std::filesystem::directory_iterator(run), {}) == 1);
        spread_values::held other(job, 2, ranks::count(), 1);
        mt::load(other.weights, run);
        CHECK(other.weights.step() == step);
        CHECK(other.all() == saved);
      }
    all.run(), keep.after_step(), keep.finish();
    spread_values::held other(job, 1, 1, ranks::count());
    mt::load(other.weights, run);
    CHECK(other.all() == all.all());
  }
}

TEST_CASE("a save that may fail: a rank that cannot write is a warning of the job, and all go on") {
  shared_folder const folder;
  mt::job const job(MPI_COMM_WORLD);
  std::vector<std::string> warned;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& s) { warned.push_back(s); });
  spread_values::held all(job, 0, ranks::count(), 1);
  mt::checkpoints keep(all.weights, folder.path, {.every = 1, .keep = 1, .may_fail = true});
  all.run(), keep.after_step(), keep.finish();
  auto const saved = all.all();
  int failed = 0;
  for (int failing : {0, last()})
    for (int at : {0, 2, 4}) {
      all.run();
      if (ranks::rank() == failing) faults::begin({faults::kind::fails, at, ENOSPC, "safetensors"});
      CHECK(sentence([&] { keep.after_step(), keep.finish(); }) == "");
      faults::end();
      CHECK(keep.failed() == ++failed);
      CHECK(warned.size() == static_cast<std::size_t>(ranks::rank() == 0 ? failed : 0));
      spread_values::held other(job, 2, ranks::count(), 1);
      mt::load(other.weights, folder.path);
      CHECK(other.all() == saved);
    }
  mt::on_warning() = before;
  if (ranks::rank() == 0) CHECK(warned.back().find("is not saved, and the program goes on: '") != std::string::npos);
  all.run(), keep.after_step(), keep.finish();
  spread_values::held other(job, 1, 1, ranks::count());
  mt::load(other.weights, folder.path);
  CHECK(other.all() == all.all());
}

TEST_CASE("NaN on one rank, and a folder that is not the same for all") {
  shared_folder const folder;
  mt::job const job(MPI_COMM_WORLD);
  spread_values::held all(job, 0, ranks::count(), 1);
  double* const mine = all.weights.local<double>("wide").data();
  double const before = *mine;
  if (ranks::rank() == last()) *mine = std::numeric_limits<double>::quiet_NaN();
  std::string const said = sentence([&] { mt::save(all.weights, folder / "run"); });
  CHECK(said.starts_with("meshtensor C09: '" + (folder / "run/0001-step-0/rank-")));
  CHECK(alike_on_all(said));
  *mine = before;
  std::string const own = folder / ("of-rank-" + std::to_string(ranks::rank()));
  std::filesystem::create_directories(own);
  std::string const apart = sentence([&] { mt::save(all.weights, own); });
  CHECK(apart.starts_with("meshtensor C01: '"));
  CHECK(apart.ends_with("No such file or directory"));
  CHECK(alike_on_all(apart));
}

TEST_CASE("damage that one rank finds, and all take the one before") {
  shared_folder const folder;
  mt::job const job(MPI_COMM_WORLD);
  spread_values::held all(job, 0, ranks::count(), 1);
  all.run(), mt::save(all.weights, folder.path);
  auto const first = all.all();
  all.run();
  std::string const second = mt::save(all.weights, folder.path);
  if (ranks::rank() == 0) {
    std::string const path =
        second + "/" + mt::io::file_name(static_cast<std::size_t>(last()), static_cast<std::size_t>(ranks::count()));
    std::string bytes = content(path);
    bytes[bytes.size() - 5] ^= 4;
    meshtensor_test::set_content(path, bytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<std::string> warned;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& s) { warned.push_back(s); });
  spread_values::held other(job, 2, 1, ranks::count());
  mt::load(other.weights, folder.path);
  mt::on_warning() = before;
  CHECK(other.weights.step() == 1);
  CHECK(other.all() == first);
  CHECK(warned.size() == (ranks::rank() == 0 ? 1 : 0));
  auto const held_before = other.all();
  std::string const said = sentence([&] { mt::load(other.weights, second); });
  CHECK(said.find("is damaged: the bytes ") != std::string::npos);
  CHECK(alike_on_all(said));
  CHECK(other.all() == held_before);
}

TEST_CASE("one file of all ranks") {
  shared_folder const folder;
  mt::job const job(MPI_COMM_WORLD), alone = mt::job::in_lockstep();
  spread_values::held all(job, 0, ranks::count(), 1), one(alone, 0, 1, 1);
  mt::export_safetensors(all.weights, folder / "ranks", {.names = {{"b", "other", {"columns", "rows", "deep"}}}});
  if (ranks::rank() == 0)
    mt::export_safetensors(one.weights, folder / "one", {.names = {{"b", "other", {"columns", "rows", "deep"}}}});
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(content(folder / "ranks") == content(folder / "one"));
  spread_values::held other(job, 3, 1, ranks::count(), 8);
  CHECK(other.all() != all.all());
  mt::import_safetensors(other.weights, folder / "ranks", {.names = {{"b", "other"}}});
  CHECK(other.all() == all.all());
  if (ranks::rank() == 0) faults::begin({faults::kind::fails, 1, EIO, "ranks"});
  std::string const said = sentence([&] { mt::export_safetensors(all.weights, folder / "ranks"); });
  faults::end();
  CHECK(said.ends_with("cannot be written: Input/output error"));
  CHECK(alike_on_all(said));
  CHECK(content(folder / "ranks") == content(folder / "one"));
}
