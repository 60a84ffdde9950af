// SPDX-License-Identifier: Apache-2.0
// Each rank decodes its share of the images that a network is judged by, rows of a batch or of pixels: on every mesh
// the same images are right, counted as integers.
// passes: start-up
// ranks: 2 3 4 6 8
#include "meshtensor/datasets/image/image_batches.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "meshtensor/datasets/image/image_stream.hpp"
#include "meshtensor/datasets/image/synthetic_images.hpp"
#include "meshtensor/meshtensor.hpp"
#include "ranks.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct height_dim : mt::dim<"height", 12> {} height;
inline constexpr struct width_dim : mt::dim<"width", 10> {} width;
inline constexpr struct colours_dim : mt::dim<"colours", 3> {} colours;
inline constexpr struct classes_dim : mt::dim<"classes", 9> {} classes;
inline constexpr struct best_dim : mt::dim<"best", 5> {} best;
inline constexpr struct data_axis : mt::axis<"data"> {} data;
inline constexpr struct rows_axis : mt::axis<"rows"> {} rows;
struct mesh : mt::mesh<data, rows> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<height, rows>> {};

struct judge {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("images", mt::f32, batch, height, width, colours);
    auto const labels = s.input("labels", mt::i32, batch);
    auto const counts = s.input("counts", mt::f32, batch);
    auto const w = s.parameter("w", height, width, colours, classes, mt::normal(1));
    auto const scores = einsum(x, w, to(batch, classes));
    [[maybe_unused]] auto const [likely, which] = top_k(scores, classes, best);
    auto const hits = mt::cast<mt::dtype::f32>(which == labels) * counts;
    s.output("seen", sum(counts));
    s.output("first",
             sum(mt::cast<mt::dtype::f32>(mt::cast<mt::dtype::i32>(argmax(scores, classes)) == labels) * counts));
    s.output("five", sum(hits));
  }
};

struct images : mt::datasets::synthetic_images {
  images() : mt::datasets::synthetic_images({.count = 101, .classes = 9, .height = 15, .width = 14}) {}
  mutable int decoded = 0;
  void read(std::int64_t number, mt::datasets::image& to) const override {
    ++decoded;
    if (number == 40) mt::datasets::image_is_damaged(name(number), "torn");
    mt::datasets::synthetic_images::read(number, to);
  }
};

struct counted {
  double seen = 0, first = 0, five = 0;
};

/// The same by plain loops over whole images.
counted by_loops(std::vector<float> const& w, mt::datasets::image_batches const& all) {
  counted c;
  mt::datasets::image_batch b;
  for (std::int64_t i = 0; i < all.size(); ++i) {
    all.read(i, b);
    std::vector<double> scores(9);
    for (std::size_t p = 0; p < 12 * 10 * 3; ++p)
      for (std::size_t k = 0; k < 9; ++k) scores[k] += double{b.pixels[p]} * double{w[p * 9 + k]};
    auto const mine = scores[static_cast<std::size_t>(b.labels[0])];
    auto const above = std::count_if(scores.begin(), scores.end(), [&](double s) { return s > mine; });
    if (b.counts[0] == 0) continue;
    c.seen += 1, c.first += above == 0, c.five += above < 5;
  }
  return c;
}

void run(std::int64_t by_data, std::int64_t by_rows) {
  images const set;
  mt::datasets::image_options o{.rows = 13, .height = 12, .width = 10, .skip_damaged = true};
  mt::datasets::image_batches const all(set, o);
  mt::job job(0, nullptr);
  mt::store weights(job, 3);
  mt::executable<judge, mesh, layout, mt::reference_device> step(weights, batch(13), data(by_data), rows(by_rows));
  std::int64_t const rank = ranks::rank();
  mt::datasets::image_part const mine{.rows = {rank / by_rows, by_data}, .height = {rank % by_rows, by_rows}};
  counted c;
  for (mt::datasets::image_stream s(all, mine, 0, {.threads = 0}); !s.at_end();) {
    mt::datasets::image_batch const& b = s.next();
    auto const result = step(mt::feed_local<"images">(b.pixels), mt::feed_local<"labels">(b.labels),
                             mt::feed_local<"counts">(b.counts));
    c.seen += static_cast<double>(result.get<"seen">()), c.first += static_cast<double>(result.get<"first">());
    c.five += static_cast<double>(result.get<"five">());
  }
  CHECK(set.decoded <= 8 * (13 / by_data + 1));

  o.rows = 1;
  auto const w = weights.get<float>("w");
  counted const wanted = by_loops({w.begin(), w.end()}, mt::datasets::image_batches(set, o));
  CHECK(c.seen == 100);
  CHECK(c.first == wanted.first);
  CHECK(c.five == wanted.five);
  CHECK(wanted.five > wanted.first);
}

}  // namespace

TEST_CASE("rows of a batch") { run(ranks::count(), 1); }
TEST_CASE("rows of pixels") { run(1, ranks::count()); }
TEST_CASE("both") {
  for (std::int64_t by_rows = 2; by_rows < ranks::count(); ++by_rows)
    if (ranks::count() % by_rows == 0) run(ranks::count() / by_rows, by_rows);
}
