// SPDX-License-Identifier: Apache-2.0
// A training to which something happens at random, again and again, in one process: calls of the system that fail,
// files that are damaged, a start anew on another mesh. It ends with the bits of one that was left alone, and leaves
// nothing open. MESHTENSOR_SOAK_STEPS and MESHTENSOR_SOAK_SEED: how long, and which.
//
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <random>

#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/io/checkpoint/folder.hpp"
#include "support/faults.hpp"
#include "support/folder.hpp"
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;
using meshtensor_test::own_folder;
using meshtensor_test::sentence;

namespace {

// What is added up depends on each step's data, so that a step too many or too few shows. Whole numbers of which no sum
// is rounded: every mesh gives the same bits.
struct mix {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows);
    auto const table = s.parameter("table", rows, columns, mt::ones);
    auto const seen = s.state("seen", mt::f32, rows);
    s.update(seen, seen + sum(x, batch));
    s.update(table, table + sum(x, batch));
    s.output("sum", sum(table));
  }
};
struct by_batch : mt::layout<mt::shard<batch, data>, mt::shard<columns, model>> {};

struct training {
  explicit training(int on_data) : step(weights, batch(8), data(on_data)) {}
  void once(std::int64_t drawn) {
    std::vector<float> x(32);
    for (float& one : x) one = static_cast<float>((drawn * 7 + drawn % 5) % 19), ++drawn;
    step(mt::feed<"x">(x));
  }
  mt::job job = mt::job::as_threads();
  mt::store weights{job};
  mt::executable<mix, mesh, by_batch, mt::reference_device> step;
};

long number(char const* variable, long otherwise) {
  char const* const given = std::getenv(variable);
  return given == nullptr ? otherwise : std::atol(given);
}
std::ptrdiff_t count_of(char const* folder) { return std::distance(std::filesystem::directory_iterator(folder), {}); }

}  // namespace

TEST_CASE("a long training, and much that goes wrong") {
  auto const steps = static_cast<std::uint64_t>(number("MESHTENSOR_SOAK_STEPS", 400));
  std::mt19937 rng(static_cast<unsigned>(number("MESHTENSOR_SOAK_SEED", 1)));
  auto const one_of = [&](unsigned n) { return static_cast<int>(rng() % n); };

  training whole(1);
  for (std::int64_t i = 0; static_cast<std::uint64_t>(i) < steps; ++i) whole.once(i * 32);

  std::vector<std::string> said;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& s) { said.push_back(s); });
  own_folder const run;
  std::map<std::string, int> harms;
  std::uint64_t last_damaged = 0;
  std::ptrdiff_t open = 0, threads = 0;
  bool ended = false;
  int start = 0;
  for (; !ended; ++start) {
    if (start == 3) open = count_of("/proc/self/fd"), threads = count_of("/proc/self/task");
    training t(1 << one_of(3));
    mt::checkpoints keep(t.weights, run.path(), {.every = 7, .keep = 2, .may_fail = true});
    if (start > 0 && one_of(4) == 0) {  // a disk that cannot be read for a moment
      faults::begin({faults::kind::fails, one_of(12), EIO, run.path().c_str()});
      if (sentence([&] { keep.resume(); }) != "") ++harms["no start"];
      faults::end();
    }
    std::int64_t drawn = 0;
    if (auto const found = keep.resume()) drawn = found->get<std::int64_t>("drawn");
    CHECK(static_cast<std::uint64_t>(drawn) == t.weights.step() * 32);
    while (!(ended = t.weights.step() >= steps)) {
      bool const fails = one_of(9) == 0;
      if (fails) faults::begin({faults::kind::fails, one_of(16), one_of(2) == 0 ? ENOSPC : EIO, run.path().c_str()});
      t.once(drawn);
      drawn += 32;
      keep.after_step([&] { return mt::notes{{"drawn", drawn}}; });
      if (fails) {
        keep.finish();
        harms["a call that fails"] += faults::met;
        faults::end();
      }
      if (one_of(40) == 0) {
        ++harms["a start anew"];
        if (one_of(2) == 0) keep.finish();
        break;
      }
    }
    keep.finish();
    auto const there = mt::io::checkpoints_in(run.path());
    if (!ended && there.size() > 1 && there[0].number > last_damaged + 2 && one_of(2) == 0) {
      ++harms["a damaged file"];
      last_damaged = there[0].number;
      std::string const path = run / (there[0].text() + "/index.json");
      std::string bytes = meshtensor_test::content(path);
      if (!bytes.empty()) bytes[static_cast<std::size_t>(one_of(static_cast<unsigned>(bytes.size())))] ^= 1;
      meshtensor_test::set_content(path, bytes);
    }
    if (ended) {
      CHECK(t.weights.get<float>("table") == whole.weights.get<float>("table"));
      CHECK(t.weights.get<float>("seen") == whole.weights.get<float>("seen"));
    }
  }
  REQUIRE(start > 3);
  CHECK(count_of("/proc/self/fd") == open);
  CHECK(count_of("/proc/self/task") == threads);
  mt::on_warning() = before;
  for (std::string const& s : said) CHECK((s.starts_with("C01: ") || s.starts_with("C06: ") || s.starts_with("C10: ")));
  for (auto const& [what, times] : harms) MESSAGE(what << ": " << times << " times");
  CHECK(harms["a start anew"] >= 3);
  CHECK(harms["a call that fails"] >= 3);
  MESSAGE(said.size() << " warnings in " << steps << " steps");
}
