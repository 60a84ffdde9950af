// SPDX-License-Identifier: Apache-2.0
// Rows that are exchanged by group: where they stand, what comes back, and what is refused.
// passes: start-up
#include "meshtensor/op/all_to_all_rows.hpp"

#include "meshtensor/inspect/check.hpp"
#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/meshtensor.hpp"
#include "unit/op/values.hpp"

namespace {

namespace mt = meshtensor;
inline constexpr struct token_dim : mt::dim<"token", 5> {} token;
inline constexpr struct choice_dim : mt::dim<"choice", 2> {} choice;
inline constexpr struct group_dim : mt::dim<"group", 3> {} group;
inline constexpr struct width_dim : mt::dim<"width", 2> {} width;
inline constexpr struct ax_axis : mt::axis<"ax"> {} ax;
struct line_of : mt::mesh<ax> {};
struct both : mt::layout<mt::shard<token, ax>, mt::shard<group, ax>> {};

struct sorted {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, token, width);
    auto const sent = all_to_all_rows(x, s.input("index", mt::i32, token), group);
    s.output("rows", sent.rows);
    s.output("group", sent.group);
    s.output("y", return_rows(sent.rows * 2, sent));
  }
};
struct of_choices {
  constexpr void operator()(mt::scope auto s) const {
    auto const index = s.input("index", mt::i32, token, choice);
    auto const sent = all_to_all_rows(s.input("x", mt::f32, token), index, group, 2);
    s.output("index", sent.index);
    s.output("rows", sent.rows);
    s.output("y", return_rows(sent.rows, sent));
  }
};
constexpr auto expected(std::vector<double> v) { return v; }

/// Sends rows, and does something with them.
template <auto F>
struct sends {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, token, width);
    F(s, all_to_all_rows(x, s.input("index", mt::i32, token), group), x);
  }
};
/// The sentence by which a program is refused at start-up on two by two processors; empty: it is not.
template <class Program>
std::string refusal(mt::layout_rules const& rules = both::rules) {
  auto const traced = mt::on_heap([] { return mt::trace<Program>(); });
  try {
    mt::lower(*traced, mt::entry_name<Program>(), mt::mesh_shape{}.add("ax", 2).add("by", 2), rules, {});
  } catch (mt::error const& e) { return e.what(); }
  return "";
}
constexpr auto shown = [](auto s, auto sent, auto) { s.output("y", sent.rows); };
constexpr auto dropped_out = [](auto s, auto sent, auto) {
  s.output("y", return_rows(mt::nn::dropout(s / "dropout", sent.rows, 0.5), sent));
};
constexpr auto numbered = [](auto s, auto sent, auto) {
  s.output("y", return_rows(sent.rows + iota(s, sent.row, mt::f32), sent));
};
inline constexpr mt::layer once_more = [](mt::scope auto s, auto x) {
  auto const sent = all_to_all_rows(x, s.input("other", mt::i32, token), group);
  return return_rows(sent.rows, sent);
};
constexpr auto twice = [](auto s, auto sent, auto x) {
  s.output("y", return_rows(sent.rows, sent) + once_more(s / "more", x));
};
struct limited_at_run_time {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, token, width);
    auto const sent = all_to_all_rows(x, s.input("index", mt::i32, token), group, s.number("most", 2));
    s.output("y", return_rows(sent.rows, sent));
  }
};
/// Rows of two choices of groups, at most so many a group.
template <auto Most>
struct limited {
  constexpr void operator()(mt::scope auto s) const {
    auto const sent =
        all_to_all_rows(s.input("x", mt::f32, token), s.input("index", mt::i32, token, choice), group, Most(s));
    s.output("index", sent.index);
    s.output("y", return_rows(sent.rows, sent));
  }
};
template <auto Most>
using limited_to = limited<[](auto) { return Most; }>;
struct doubled : sends<[](auto s, auto sent, auto) { s.output("y", return_rows(sent.rows * 2, sent)); }> {};

}  // namespace

TEST_CASE("rows stand by group, in their order; behind the last one are zeros") {
  trial::program p = trial::program::of<sorted>();
  p.fill("x", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  p.fill("index", {2, 0, -1, 2, 3});
  mt::blocks const got = p.run();
  CHECK(trial::numbers_of(got.at("rows")) == expected({3, 4, 1, 2, 7, 8, 0, 0, 0, 0}));
  CHECK(trial::numbers_of(got.at("group")) == expected({0, 2, 2, -1, -1}));
  CHECK(trial::numbers_of(got.at("y")) == expected({2, 4, 6, 8, 0, 0, 14, 16, 0, 0}));
}

TEST_CASE("a row goes once for each choice; a group takes its first rows") {
  trial::program p = trial::program::of<of_choices>();
  p.fill("x", {1, 2, 3, 4, 5});
  p.fill("index", {2, 1, 2, 0, 1, 2, 1, 2, 7, 0});
  mt::blocks const got = p.run();
  CHECK(trial::numbers_of(got.at("index")) == expected({2, 1, 2, 0, 1, -1, -1, -1, 7, 0}));
  CHECK(trial::numbers_of(got.at("rows")) == expected({2, 5, 1, 3, 1, 2}));
  CHECK(trial::numbers_of(got.at("y")) == expected({1, 1, 2, 2, 3, 0, 0, 0, 0, 5}));
}

TEST_CASE("groups take all their rows if they may take more than there can be") {
  auto const takes_all = [](trial::program p) {
    p.fill("x", {1, 2, 3, 4, 5});
    p.fill("index", {2, 1, 2, 0, 1, 2, 1, 2, 7, 0});
    mt::blocks const got = p.run();
    CHECK(trial::numbers_of(got.at("index")) == expected({2, 1, 2, 0, 1, 2, 1, 2, 7, 0}));
    CHECK(trial::numbers_of(got.at("y")) == expected({1, 1, 2, 2, 3, 3, 4, 4, 0, 5}));
  };
  takes_all(trial::program::of<limited_to<2147483647>>());
  takes_all(trial::program::of<limited_to<2147483648>>());
  takes_all(trial::program::of<limited_to<std::int64_t{10'000'000'000}>>());
  takes_all(trial::program::of<limited_to<std::numeric_limits<std::int64_t>::max()>>());
  takes_all(trial::program::of<limited<[](auto) { return 1e300; }>>());
  takes_all(trial::program::of<limited<[](auto) { return mt::extent(token) * 1e10; }>>());
  CHECK(refusal<limited_to<2147483648>>() == "");
  for (std::string const& got : {refusal<limited_to<0>>(), refusal<limited_to<std::int64_t{-10'000'000'000}>>(),
                                 refusal<limited<[](auto) { return mt::extent(token) * -1e10; }>>()}) {
    INFO(got);
    CHECK(got.find("S11: the dim 'group/rows' has no extent, as `at_most` is less than 1: give a number") != got.npos);
  }
}

TEST_CASE("what would show the mesh is refused") {
  auto const says = [](std::string const& got, char const* wanted) {
    INFO(got);
    CHECK(got.find(wanted) != std::string::npos);
  };
  says(refusal<sends<shown>>(),
       "S21: output of exchanged rows would depend on the mesh: make it before all_to_all_rows, "
       "or behind return_rows (output");
  says(refusal<sends<dropped_out>>(), "S21: random of exchanged rows");
  says(refusal<sends<numbered>>(), "S21: iota of exchanged rows");
  says(refusal<limited_at_run_time>(),
       "S11: the dim 'group/rows' has no extent, as `at_most` is set at run time: give a "
       "number or the extents of dims");
  auto const elsewhere = mt::layout_rules(both::rules).shard("token", {"by"}, "more");
  says(refusal<sends<twice>>(elsewhere),
       "S05: rows are exchanged twice by 'group', over other axes the second time: give the second exchange groups of "
       "another name");
  CHECK(refusal<sends<twice>>() == "");
}

TEST_CASE("the plan states the room") {
  std::string const text = mt::explain(mt::draft<mt::executable<doubled, line_of, both>>(ax(2)));
  CHECK(text.find("group/holders = 2: the ranks that hold rows for group") != std::string::npos);
  CHECK(text.find("group/rows = 5: at most, the rows that a rank gets for its part of group") != std::string::npos);
  CHECK(text.find("move_rows") != std::string::npos);
}

TEST_CASE("values that depend on the mesh are not compared with whole tensors, all others are") {
  mt::array<float, token, width> x;
  mt::array<std::int32_t, token> index;
  for (std::size_t i = 0; i < 10; ++i) x.data()[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < 5; ++i) index.data()[i] = static_cast<std::int32_t>(i % 3);
  auto const r = mt::check<doubled, line_of, both>(ax(3), mt::feed<"x">(x), mt::feed<"index">(index));
  INFO(mt::text_of(r));
  CHECK(r.agrees());
  CHECK(r.compared >= 3);
}

TEST_CASE("laws") {
  laws::hold_for_one("rows there and back", [](auto s, auto x, auto, auto...) {
    auto const sent = all_to_all_rows(x, laws::rows(s), laws::d);
    return return_rows(sent.rows * sent.rows, sent);
  });
  laws::hold("two rows of each token, of which a group takes two", [](auto s, auto x, auto y, auto...) {
    auto const sent = all_to_all_rows(x, laws::rows(s) + iota(s, choice, mt::i32), laws::d, 2);
    return return_rows(sin(sent.rows), sent) * sum(y, laws::c);
  });
}
