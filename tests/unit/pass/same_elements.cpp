// SPDX-License-Identifier: Apache-2.0
// Extents that do not fit an operation give one sentence under every layout, also where other nodes replace the
// operation on a mesh: in the compiler if it knows the extents, and otherwise before the first step.
// passes: start-up
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;
using meshtensor_test::sentence;

namespace {

inline constexpr struct data_axis : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};

template <class A, class B, class C>
struct programs {
  static constexpr A a{};
  static constexpr B b{};
  static constexpr C c{};
  struct permuted {
    constexpr void operator()(mt::scope auto s) const {
      s.output("y", permute(s.input("x", mt::f32, a), a, s.input("sources", mt::i32, b)));
    }
  };
  struct joined {
    constexpr void operator()(mt::scope auto s) const {
      s.output("y", concat(s.input("x", mt::f32, a), a, s.input("z", mt::f32, b), b, c));
    }
  };
  struct twice {
    constexpr void operator()(mt::scope auto s) const {
      auto const x = permute(s.input("x", mt::f32, a), a, s.input("sources", mt::i32, a));
      s.output("first", permute(x, a, s.input("others", mt::i32, b)));
      s.output("last", concat(x, a, s.input("z", mt::f32, b), b, c));
    }
  };
  struct cut {
    constexpr void operator()(mt::scope auto s) const {
      s.output("y", slice(s.input("x", mt::f32, a), a, b, 2) + s.input("z", mt::f32, b));
    }
  };
  struct padded {
    constexpr void operator()(mt::scope auto s) const {
      s.output("y", pad(s.input("x", mt::f32, b), b, a, 2) + s.input("z", mt::f32, a));
    }
  };
  struct whole : mt::layout<> {};
  struct by_a : mt::layout<mt::shard<a, data>> {};
  struct by_b : mt::layout<mt::shard<b, data>> {};
  struct by_c : mt::layout<mt::shard<c, data>> {};
  struct by_all : mt::layout<mt::shard<a, data>, mt::shard<b, data>, mt::shard<c, data>> {};
};

struct a_dim : mt::dim<"a"> {};
struct b_dim : mt::dim<"b"> {};
struct c_dim : mt::dim<"c"> {};
using open = programs<a_dim, b_dim, c_dim>;
namespace known {
struct a_dim : mt::dim<"a", 3> {};
struct b_dim : mt::dim<"b", 2> {};
struct c_dim : mt::dim<"c", 7> {};
}  // namespace known
using fixed = programs<known::a_dim, known::b_dim, known::c_dim>;

/// The sentence from its code up to the node, whose name and number depend on the layout.
std::string up_to_node(std::string const& all) {
  auto const begin = all.find("S03"), node = all.find(" (node ");
  if (begin == all.npos || node == all.npos) return all;
  auto const first = all.find(' ', begin) + 1;
  return all.substr(first, node - first) + all.substr(all.rfind(", "));
}

struct extents {
  std::int64_t a, b, c = 0;  // 0 if the program has no such dim
};
/// The sentence of a program at start-up, which must be the same under all layouts.
template <class Program>
std::string said(extents const& e) {
  auto const under = [&]<class Layout>(Layout, int ranks) {
    return up_to_node(sentence([&] {
      auto const job = mt::job::in_lockstep();
      mt::store values(job);
      std::vector<mt::dim_extent> all{open::a(e.a), open::b(e.b)};
      if (e.c != 0) all.push_back(open::c(e.c));
      mt::executable<Program, mesh, Layout> run(values, data(ranks), all);
    }));
  };
  std::string const expected = under(open::whole(), 1);
  for (int const ranks : {1, 2, 3}) {
    CHECK(under(open::by_a(), ranks) == expected);
    CHECK(under(open::by_b(), ranks) == expected);
    if (e.c != 0) CHECK(under(open::by_c(), ranks) == expected);
    if (e.c != 0) CHECK(under(open::by_all(), ranks) == expected);
  }
  return expected;
}

/// The sentence of a program in the compiler.
template <class Program, class Layout>
inline constexpr mt::early_check early =
    mt::check_early(mt::lowered<mt::programs<Program>, Program, mesh, Layout>::graph);
template <class Program>
std::string said_early() {
  std::string const expected = up_to_node(std::string(early<Program, fixed::whole>.report.view()));
  CHECK(up_to_node(std::string(early<Program, fixed::by_a>.report.view())) == expected);
  CHECK(up_to_node(std::string(early<Program, fixed::by_c>.report.view())) == expected);
  CHECK(up_to_node(std::string(early<Program, fixed::by_all>.report.view())) == expected);
  return expected;
}

}  // namespace

TEST_CASE("extents that are given") {
  CHECK(said<open::permuted>({3, 3}) == "");
  CHECK(
      said<open::permuted>({6, 2}).starts_with("'a' (6) is permuted by 'b' (2), which is another number of elements: "
                                               "declare 'b' with the extent of 'a', same_elements.cpp:"));
  CHECK(said<open::permuted>({2, 9}).starts_with("'a' (2) is permuted by 'b' (9), which is another number of"));
  CHECK(said<open::joined>({2, 3, 5}) == "");
  CHECK(said<open::joined>({2, 3, 7}).starts_with(
      "'a' (2) + 'b' (3) are concatenated into 'c' (7), which is another number of elements: both "
      "sides must have the same sum, same_elements.cpp:"));
  CHECK(said<open::joined>({2, 3, 4}).starts_with("'a' (2) + 'b' (3) are concatenated into 'c' (4), which is another"));
}

TEST_CASE("the dims of two operations that fit, and of two that do not") {
  CHECK(said<open::twice>({3, 3, 6}) == "");
  CHECK(said<open::twice>({3, 2, 5}).starts_with("'a' (3) is permuted by 'b' (2), which is"));
  CHECK(said<open::twice>({3, 3, 7}).starts_with("'a' (3) + 'b' (3) are concatenated into 'c' (7), which is"));
}

TEST_CASE("extents that the compiler knows") {
  CHECK(said_early<fixed::permuted>().starts_with("'a' (3) is permuted by 'b' (2), which is"));
  CHECK(said_early<fixed::joined>().starts_with("'a' (3) + 'b' (2) are concatenated into 'c' (7), which is"));
}

TEST_CASE("a slice and a pad that moves between ranks replace") {
  CHECK(said<open::cut>({5, 3}) == "");
  CHECK(said<open::cut>({5, 4}).starts_with("a slice of 'a' (5) from 2 on, as long as 'b' (4), reaches beyond"));
  CHECK(said<open::padded>({5, 3}) == "");
  CHECK(said<open::padded>({5, 4}).starts_with("'b' (4), padded from 2 on to 'a' (5), reaches beyond its ends"));
}
