// SPDX-License-Identifier: Apache-2.0
// Memory that somebody else owns: fed, given back, and exchanged with the store, without a copy where it is dense.
// passes: start-up
#include "meshtensor/array/array_view.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

#include "support/xtensor.hpp"

#if __has_include(<Eigen/Core>)
#  include <Eigen/Core>
#endif

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rows : mt::dim<"rows"> {} rows;
inline constexpr struct columns : mt::dim<"columns", 3> {} columns;
inline constexpr struct other : mt::dim<"other", 3> {} other;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<rows, data>> {};

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, columns);
    auto gain = s.parameter("gain", rows, columns, mt::constant(2));
    s.output("y", x * gain);
    s.output("x itself", x + 0);
    s.output("total", sum(x));
  }
};
using stepping = mt::executable<program, mesh, layout>;

std::vector<float> counted(std::size_t n) {
  std::vector<float> v(n);
  std::iota(v.begin(), v.end(), 0.0f);
  return v;
}

/// A matrix with Eigen's words, column-major.
struct columns_first {
  static constexpr bool IsRowMajor = false;
  std::vector<float> elements = counted(12);
  float* data() { return elements.data(); }
  float const* data() const { return elements.data(); }
  int rows() const { return 4; }
  int cols() const { return 3; }
  int innerStride() const { return 1; }
  int outerStride() const { return 4; }
};

std::string sentence(auto const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("windows on memory") {
  auto const v = counted(40);
  auto const dense = mt::in_memory(v.data(), rows(4), columns(3));
  CHECK(dense.size() == 12);
  CHECK(dense(rows(2), columns(1)) == 7);
  CHECK(dense(columns(1), rows(2)) == 7);
  auto const apart = mt::in_memory(v.data() + 1, mt::apart(rows(4), 10), mt::apart(columns(3), 2));
  CHECK(apart(rows(2), columns(1)) == 23);
  CHECK(mt::in_memory(v.data(), mt::apart(rows(4), 10), columns(3))(rows(1), columns(2)) == 12);
  CHECK(mt::in_memory(std::span(v).first(12), rows(4), columns(3))(rows(3), columns(2)) == 11);
  CHECK(mt::in_memory(v.data(), mt::apart(rows(4), 0), columns(3))(rows(3), columns(2)) == 2);  // one row, four times
  CHECK(sentence([&] { mt::in_memory(v, rows(4), columns(3)); }) ==
        "meshtensor R11: a view [rows=4, columns=3] has 12 elements, but there are 40");
  CHECK(sentence([&] { dense(rows(4), columns(0)); }) ==
        "meshtensor R48: a view [rows=4, columns=3] has no element at rows = 4");
  CHECK(sentence([&] { dense(rows(1)); }).starts_with("meshtensor R49: an element of a view [rows=4, columns=3] is"));
  auto const square = mt::in_memory(v.data(), rows(4), columns(4));
  CHECK(sentence([&] { square(rows(3), rows(3)); }) ==
        "meshtensor R49: two indices are given for dim 'rows' of a view");
  constexpr mt::dim<"lines"> lines;
  CHECK(sentence([&] { dense.extent(lines); }) == "meshtensor R12: a view [rows=4, columns=3] has no dim 'lines'");
  CHECK(sentence([&] { dense(lines(0)); }) == "meshtensor R12: a view [rows=4, columns=3] has no dim 'lines'");
  CHECK(sentence([&] { mt::in_memory(v.data(), rows(4), rows(3)); }) ==
        "meshtensor T42: two dims of a view are called 'rows'");
}

TEST_CASE("Eigen's and xtensor's") {
  columns_first m;
  auto const e = mt::in_memory(m, rows, columns);
  CHECK(e.extent(rows) == 4);
  CHECK(e(rows(1), columns(2)) == 9);
  e(rows(1), columns(2)) = 5;
  CHECK(m.elements[9] == 5);
#if __has_include(<Eigen/Core>)
  auto v = counted(12);
  Eigen::Map<Eigen::Matrix<float, 4, 3, Eigen::RowMajor>> const map(v.data());
  CHECK(mt::in_memory(map, rows, columns)(rows(1), columns(2)) == map(1, 2));
  Eigen::MatrixXf const own = map;
  CHECK(mt::in_memory(own, rows, columns)(rows(3), columns(1)) == map(3, 1));
#endif
  xt::xtensor<float, 2> x({4, 6});
  std::iota(x.begin(), x.end(), 0.0f);
  CHECK(mt::in_memory(x, rows, columns)(rows(2), columns(1)) == x(2, 1));
  auto const part = xt::view(x, xt::range(1, 4), xt::range(2, 5));
  auto const p = mt::in_memory(part, rows, columns);
  CHECK(p.extent(rows) == 3);
  CHECK(p(rows(2), columns(1)) == x(3, 3));
  xt::xtensor<float, 2, xt::layout_type::column_major> transposed = x;
  CHECK(mt::in_memory(transposed, rows, columns)(rows(2), columns(1)) == x(2, 1));
  CHECK(sentence([&] { mt::in_memory(x, rows); }) == "meshtensor R58: an xtensor of 2 dims was given 1 names");
}

TEST_CASE("fed whole from anywhere") {
  for (bool in_turns : {true, false}) {
    auto const job = in_turns ? mt::job::in_lockstep() : mt::job::as_threads();
    mt::store weights(job);
    stepping step(weights, rows(4), data(2));
    columns_first m;
    auto const y = step(mt::feed<"x">(mt::in_memory(m, rows, columns))).get<"y">().gather();
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 3; ++c) CHECK(y(rows(r), columns(c)) == 2 * m.elements[static_cast<std::size_t>(c * 4 + r)]);
    CHECK(
        sentence([&] { step(mt::feed<"x">(mt::in_memory(m, columns, rows))); }) ==
        "meshtensor R11: the input 'x' is [rows=4, columns=3], 12 elements, but an array [columns=4, rows=3] was fed");
    CHECK(sentence([&] { step(mt::feed<"x">(mt::in_memory(m, rows, other))); }).find("R11") != std::string::npos);
    CHECK(sentence([&] { step(mt::feed_local<"x">(mt::in_memory(m, rows, columns))); }).find("R06") !=
          std::string::npos);
  }
}

TEST_CASE("one processor: read and written where it lies") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  stepping step(weights, rows(4), data(1));
  auto v = counted(12);
  auto result = step(mt::feed_local<"x">(mt::in_memory(v, rows(4), columns(3))));
  CHECK(result.get<"total">() == 66);
  CHECK(step.copied_bytes() == 0);
  auto const again = [&] { return step(mt::feed_local<"x">(mt::in_memory(v, rows(4), columns(3)))); };
  v[0] = 34;
  CHECK(again().get<"total">() == 100);
  CHECK(sentence([&] { step(); }).starts_with("meshtensor R02: the input 'x' was not fed: feed_local gives a part to"));
  auto const y = again().get<"y">().view();
  CHECK(y(rows(3), columns(2)) == 22);
  v[11] = 12;
  float const* const before = y.data();
  again();
  CHECK(again().get<"y">().view().data() == before);
  CHECK(y(rows(3), columns(2)) == 24);

  // Apart: copied when the step begins, and for this step alone, too.
  auto const wide = counted(40);
  CHECK(step(mt::feed_local<"x">(mt::in_memory(wide.data(), mt::apart(rows(4), 10), columns(3))))
            .get<"x itself">()
            .view()(rows(2), columns(1)) == 21);
  CHECK(step.copied_bytes() == 12 * sizeof(float));
  CHECK(sentence([&] { step(); }).starts_with("meshtensor R02"));
  CHECK(sentence([&] { step(mt::feed_local<"x">(mt::in_memory(v, rows(2), columns(6)))); }) ==
        "meshtensor R11: this rank's part of the input 'x' is [rows=4, columns=3], but a view [rows=2, columns=6] "
        "was fed");

  auto const gain = weights.local<float>("gain");
  CHECK(gain(rows(1), columns(1)) == 2);
  gain(rows(1), columns(1)) = 100;
  CHECK(again().get<"y">().view()(rows(1), columns(1)) == 400);
}

TEST_CASE("fed to an eager scope") {
  columns_first m;
  mt::eager s(rows(4), mt::feed<"x">(mt::in_memory(m, rows, columns)));
  auto const y = s.value(s.input("x", mt::f32, rows, columns) + 1);
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 3; ++c) CHECK(y(rows(r), columns(c)) == m.elements[static_cast<std::size_t>(c * 4 + r)] + 1);
}

TEST_CASE("to and from the store") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  stepping const step(weights, rows(4), data(2));
  columns_first m;
  weights.set("gain", mt::in_memory(m, rows, columns));
  CHECK(weights.get<float>("gain")(rows(1), columns(2)) == 9);
  std::vector<float> back(24, -1);
  weights.get("gain", mt::in_memory(back.data(), mt::apart(columns(3), 8), mt::apart(rows(4), 2)));
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < 3; ++c) CHECK(back[static_cast<std::size_t>(8 * c + 2 * r)] == static_cast<float>(4 * c + r));
  CHECK(back[1] == -1);
  CHECK(sentence([&] { weights.set("gain", mt::in_memory(back, rows(8), columns(3))); }) ==
        "meshtensor R11: the store holds 'gain' as f32[rows=4/data=2, columns=3], but it was given a view [rows=8, "
        "columns=3]");
  CHECK(sentence([&] { weights.local<float>("gain"); }).find("R06") != std::string::npos);
  std::vector<double> wrong(12);
  CHECK(sentence([&] { weights.set("gain", mt::in_memory(wrong, rows(4), columns(3))); }).find("R14") !=
        std::string::npos);
}
