// SPDX-License-Identifier: Apache-2.0
// Each rank feeds its own block alone: what comes out is what comes out of the whole array fed on every rank.
// passes: start-up
// ranks: 2 4
// sanitize: yes
#include <doctest/doctest.h>

#include "meshtensor/meshtensor.hpp"
#include "ranks.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows", 8> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns", 6> {} columns;

inline constexpr struct data_axis : mt::axis<"data"> {} data;
inline constexpr struct model_axis : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};

struct answer {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows);
    auto const table = s.parameter("table", rows, columns);
    s.output("y", einsum(x, table, to(batch, columns)));
    s.output("same", x + 1);
    s.output("mean", mean(x * x));
  }
};

struct by_batch : mt::layout<mt::shard<batch, data>> {};
struct by_both : mt::layout<mt::shard<batch, data>, mt::shard<rows, model>> {};
struct major_data : mt::layout<mt::shard<batch, data, model>> {};
struct major_model : mt::layout<mt::shard<rows, model, data>> {};

/// Where this rank's block of a dim over some axes begins: the axes from the major one on, each with its size and this
/// rank's place. Written out here: the library's own arithmetic is what is tried.
struct cut {
  std::int64_t first = 0, extent;
  explicit cut(std::int64_t whole) : extent(whole) {}
  cut over(std::int64_t size, std::int64_t place) const {
    cut c = *this;
    c.extent /= size, c.first += place * c.extent;
    return c;
  }
};

struct block {
  cut batch, rows;
};

constexpr std::int64_t batches = 12;
mt::array<float, batch, rows> whole_input() {
  mt::array<float, batch, rows> x(batch(batches));
  for (float n = 0; float& e : x) e = n++ / 4;
  return x;
}
std::vector<float> part_of(mt::array<float, batch, rows> const& x, block const& b) {
  std::vector<float> part;
  for (std::int64_t i = 0; i < b.batch.extent; ++i)
    for (std::int64_t j = 0; j < b.rows.extent; ++j)
      part.push_back(x(batch(b.batch.first + i), rows(b.rows.first + j)));
  return part;
}

/// Whether an output's block is that part of the whole.
template <class Local, class Whole, class D, class E>
bool is_part(Local const& local, Whole const& whole, D d, E e) {
  for (std::int64_t i = 0; i < local.extent(d); ++i)
    for (std::int64_t j = 0; j < local.extent(e); ++j)
      if (local(d(i), e(j)) != whole(d(local.first(d) + i), e(local.first(e) + j))) return false;
  return local.size() > 0;
}

template <class Layout>
void run(block const& mine) {
  mt::job job(0, nullptr);
  mt::store weights(job, 3), others(job, 3);
  mt::executable<answer, mesh, Layout, mt::reference_device> local(weights, batch(batches)),
      all(others, batch(batches));
  for (int t = 0; t < 2; ++t) {
    mt::array<float, batch, rows> x = whole_input();
    for (float& e : x) e += static_cast<float>(t);
    std::vector<float> const part = part_of(x, mine);
    auto const given = local(mt::feed_local<"x">(part));
    auto const wanted = all(mt::feed<"x">(x));

    auto const same = given.template get<"same">().local();
    CHECK(same.first(batch) == mine.batch.first);
    CHECK(same.first(rows) == mine.rows.first);
    REQUIRE(same.size() == static_cast<std::int64_t>(part.size()));
    for (std::size_t i = 0; i < part.size(); ++i) REQUIRE(same.data()[i] == part[i] + 1);
    auto const whole = given.template get<"same">().gather();
    CHECK(whole == wanted.template get<"same">().gather());
    REQUIRE(whole.size() == x.size());
    for (std::int64_t i = 0; i < x.size(); ++i) REQUIRE(whole.data()[i] == x.data()[i] + 1);

    auto const y = given.template get<"y">().gather();
    CHECK(y == wanted.template get<"y">().gather());
    CHECK(given.template get<"y">().local() == wanted.template get<"y">().local());
    CHECK(is_part(given.template get<"y">().local(), y, batch, columns));
    CHECK(given.template get<"mean">() == wanted.template get<"mean">());
  }
}

// Ranks count row-major over the axes: data is the major one.
std::int64_t data_size() { return ranks::count() / 2; }
std::int64_t data_place() { return ranks::rank() / 2; }
std::int64_t model_place() { return ranks::rank() % 2; }

}  // namespace

TEST_CASE("one dim over one axis; the other axis has the same blocks again") {
  run<by_batch>({cut(batches).over(data_size(), data_place()), cut(8)});
}
TEST_CASE("two dims over two axes") {
  run<by_both>({cut(batches).over(data_size(), data_place()), cut(8).over(2, model_place())});
}
TEST_CASE("one dim over two axes") {
  run<major_data>({cut(batches).over(data_size(), data_place()).over(2, model_place()), cut(8)});
}
TEST_CASE("one dim over two axes, the other one major") {
  run<major_model>({cut(batches), cut(8).over(2, model_place()).over(data_size(), data_place())});
}

TEST_CASE("another number of elements is refused on the rank that fed it, and the job goes on") {
  mt::job job(0, nullptr);
  mt::store weights(job, 3);
  mt::executable<answer, mesh, major_data, mt::reference_device> step(weights, batch(batches));
  auto const x = whole_input();
  block const mine{cut(batches).over(data_size(), data_place()).over(2, model_place()), cut(8)};
  std::vector<float> const part = part_of(x, mine), more(part.size() + 1), whole(x.begin(), x.end());
  // The last rank alone is wrong: no other has to take part in being told so.
  if (ranks::rank() == ranks::count() - 1)
    for (auto const& wrong : {more, whole}) {
      std::string said;
      try {
        step(mt::feed_local<"x">(wrong));
      } catch (mt::error const& e) { said = e.what(); }
      CHECK(said == "meshtensor R11: this rank's part of the input 'x' has " + std::to_string(part.size()) +
                        " elements, but " + std::to_string(wrong.size()) + " were fed");
    }
  CHECK(step(mt::feed_local<"x">(part)).get<"same">().gather().data()[x.size() - 1] == x.data()[x.size() - 1] + 1);
}
