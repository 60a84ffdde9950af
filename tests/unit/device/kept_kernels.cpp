// SPDX-License-Identifier: Apache-2.0
// Evaluations keep their convolutions' kernels in a library's format, and see each change of the store all the same: by
// a training program, by values that are set or written in place, and by a checkpoint.
// passes: start-up
// needs: cpu io
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "meshtensor/device/default.hpp"
#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;

namespace {

using mt::to;
inline constexpr struct batch_dim : mt::dim<"batch", 8> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 8> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns", 9> {} columns;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_columns_dim : mt::dim<"k_columns", 3> {} k_columns;
inline constexpr struct in_dim : mt::dim<"in", 32> {} in;
inline constexpr struct out_dim : mt::dim<"out", 32> {} out;
inline constexpr struct layers_dim : mt::dim<"layers", 3> {} layers;
inline constexpr struct parts_axis : mt::axis<"parts"> {} parts;
struct mesh : mt::mesh<parts> {};
struct by_batch : mt::layout<mt::shard<batch, parts>> {};
struct by_outputs : mt::layout<mt::shard<out, parts>> {};

constexpr auto answer(mt::scope auto s) {
  auto const x = s.input("x", mt::f32, batch, rows, columns, in);
  auto const over_rows = mt::window(rows, rows, k_rows, {.padding = mt::same_padding});
  auto const over_columns = mt::window(columns, columns, k_columns, {.padding = mt::same_padding});
  auto const there = s.parameter("there", k_rows, k_columns, in, out, mt::normal(0.1));
  auto const back = s.parameter("back", k_rows, k_columns, out, in, mt::normal(0.1));
  auto const pair = [&](auto h, auto up, auto down) {
    auto const wide = mt::relu(conv(h, up, to(batch, rows, columns, out), over_rows, over_columns));
    return conv(wide, down, to(batch, rows, columns, in), over_rows, over_columns);
  };
  return mt::repeat(s / "rest", layers, pair(x, there, back), [&](mt::scope auto r, auto h) {
    return h + pair(h, r.parameter("there", k_rows, k_columns, in, out, mt::normal(0.1)),
                    r.parameter("back", k_rows, k_columns, out, in, mt::normal(0.1)));
  });
}
struct look {
  constexpr void operator()(mt::scope auto s) const { s.output("y", answer(s)); }
};
struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto const y = answer(s);
    auto const loss = mean(y * y);
    mt::sgd{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

template <class Layout>
struct two_programs {
  using looking = mt::executable<look, mesh, Layout, mt::default_device>;
  explicit two_programs(int processors) : count(processors) {
    for (int i = 0; i < 8 * 8 * 9 * 32; ++i) x.push_back(0.01f * static_cast<float>(i * 37 % 101 - 50));
  }

  std::vector<float> seen(looking& by) const {
    auto const y = by(mt::feed<"x">(x)).template get<"y">().gather();
    return {y.begin(), y.end()};
  }
  /// What an executable sees that keeps nothing.
  std::vector<float> anew() {
    looking once(weights, parts(count));
    return seen(once);
  }
  /// Whether three evaluations see what the store has now; returns the memory that copies then have.
  std::int64_t check(std::string const& after) {
    INFO(after);
    auto const wanted = anew();
    CHECK(wanted != before);
    before = wanted;
    for (int i = 0; i < 3; ++i) CHECK(seen(evaluation) == wanted);
    return evaluation.memory().workspace - workspace;
  }

  int count;
  mt::job job = mt::job::as_threads();
  mt::store weights{job, 5};
  looking evaluation{weights, parts(count)};
  mt::executable<learn, mesh, Layout, mt::default_device> training{weights, parts(count)};
  std::vector<float> x, before;
  std::int64_t const workspace = evaluation.memory().workspace;
};

template <class Layout>
void run(int processors) {
  two_programs<Layout> t(processors);
  meshtensor_test::own_folder const folder;
  std::int64_t const kept = t.check("the start");
#if MESHTENSOR_WITH_ONEDNN
  CHECK(kept >= 8 * 9 * 32 * 32 * 4);  // all kernels, at least once
#endif
  mt::save(t.weights, folder.path());

  t.training(mt::feed<"x">(t.x));
  CHECK(t.evaluation.memory().workspace == t.workspace);  // copies of what has changed take no memory
  CHECK(t.check("a step of training") == kept);
  for (int i = 0; i < 3; ++i) {  // in turn: nothing is kept, and no copy is old
    t.training(mt::feed<"x">(t.x));
    CHECK(t.seen(t.evaluation) == t.anew());
    CHECK(t.evaluation.memory().workspace == t.workspace);
  }
  CHECK(t.check("more steps") == kept);

  t.weights.set("rest/back", std::vector<float>(3 * 9 * 32 * 32, 0.01f));
  CHECK(t.check("a value that was set") == kept);

  mt::load(t.weights, folder.path());
  CHECK(t.check("a checkpoint") == kept);

  if (processors > 1) return;
  auto const memory = t.weights.template local<float>("back");
  for (int i = 0; i < 3; ++i) {  // whoever has its memory may write at any time
    memory(k_rows(0), k_columns(0), out(i), in(0)) += 1;
    CHECK(t.check("a write in place") < kept);
  }
}

}  // namespace

TEST_CASE("evaluations see what has changed, and copy kernels once while nothing does") {
  SUBCASE("one processor") { run<by_batch>(1); }
  SUBCASE("two, with copies of each kernel") { run<by_batch>(2); }
  SUBCASE("two, with parts of each kernel") { run<by_outputs>(2); }
}
