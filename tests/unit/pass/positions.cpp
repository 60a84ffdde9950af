// SPDX-License-Identifier: Apache-2.0
// Positions and counts in integers that do not hold the greatest of them are refused when the plan is made: by every
// operation that gives such integers, at the first extent that does not fit. Those whose positions are i64 are taken.
// passes: start-up
#include <doctest/doctest.h>

#include <cstdint>
#include <string>

#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/op/all_to_all_rows.hpp"
#include "meshtensor/op/pool.hpp"
#include "meshtensor/op/sort.hpp"
#include "meshtensor/op/top_k.hpp"
#include "meshtensor/regime/top_k_values.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct huge_dim : mt::dim<"huge"> {} huge;
inline constexpr struct best_dim : mt::dim<"best", 4> {} best;
inline constexpr struct part_dim : mt::dim<"part", 8> {} part;
inline constexpr struct rest_dim : mt::dim<"rest"> {} rest;
inline constexpr struct parts_dim : mt::dim<"parts", part * rest> {} parts;
inline constexpr struct expert_dim : mt::dim<"expert", 4> {} expert;
inline constexpr struct kernel_dim : mt::dim<"kernel", 65536> {} kernel;
struct other_kernel_dim : mt::dim<"other_kernel", 32768> {};
struct larger_kernel_dim : mt::dim<"larger_kernel", 32769> {};
inline constexpr struct height_dim : mt::dim<"height", 65536> {} height;
struct width_dim : mt::dim<"width", 32768> {};
struct larger_width_dim : mt::dim<"larger_width", 32769> {};
inline constexpr struct height_2_dim : mt::dim<"height_2", 1> {} height_2;
inline constexpr struct width_2_dim : mt::dim<"width_2", 1> {} width_2;
inline constexpr struct axis_of_mesh : mt::axis<"spread"> {} spread;
struct mesh : mt::mesh<spread> {};
struct layout : mt::layout<mt::shard<huge, spread>, mt::shard<part, spread>> {};

struct greatest {
  constexpr void operator()(mt::scope auto s) const {
    auto const [value, position] = top_k(s.input("x", mt::f32, huge), huge, best);
    s.output("value", value), s.output("position", position);
  }
};
struct greatest_of_parts {
  constexpr void operator()(mt::scope auto s) const {
    auto const [value, position] =
        top_k(merge(s.input("x", mt::f32, part, rest), to(part, rest), parts), parts, best, part, rest);
    s.output("value", value), s.output("position", position);
  }
};
template <mt::dtype T>
struct counted {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", sum(mt::cast<mt::f64>(iota(s, huge, mt::dtype_constant<T>{})), huge));
  }
};
template <class Width, class Kernel>
struct pooled {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, height, Width{});
    s.output("y", max_pool(x, mt::window(height, height_2, kernel), mt::window(Width{}, width_2, Kernel{})));
  }
};
struct sent {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, huge);
    auto const rows = all_to_all_rows(x, s.input("index", mt::i32, huge), expert);
    s.output("y", sum(return_rows(rows.rows, rows)));
  }
};
struct in_wide_integers {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, huge);
    s.output("greatest", argmax(x, huge));
    s.output("order", argsort(x, huge));
    s.output("places", sum(iota(s, huge, mt::i64)));
    s.output("last", sum(iota(s, huge, mt::i64) - extent(huge) * 4));
  }
};
/// A message of the largest values of a parameter, as `compressed` sends it.
struct compressed_values {
  constexpr void operator()(mt::scope auto s) const {
    mt::builder& b = s.graph_builder();
    mt::any_tensor<mt::dtype::f32> const x(s.input("x", mt::f32, best, huge));
    mt::shape const dims = b.m.values[x.id].dims;
    auto const message = mt::top_k_values<1, 1000>::encode(s, x, mt::path_id{}, dims);
    s.output("y", mt::top_k_values<1, 1000>::decode<mt::dtype::f32>(b, message, dims, {}));
  }
};
struct of_an_extent {
  constexpr void operator()(mt::scope auto s) const {
    s.output("z", sum(s.input("w", mt::f32, huge)));
    s.output("y", s.input("x", mt::i32, best) + extent(huge) * 2);
  }
};

/// The sentence by which a plan is refused; empty: it is made.
template <class Program>
std::string refusal(auto const&... extents) {
  try {
    mt::draft<mt::executable<Program, mesh, layout>> const plan(spread(2), extents...);
  } catch (mt::error const& e) { return e.what(); }
  return "";
}
bool begins(std::string const& all, std::string const& some) { return all.rfind("meshtensor " + some, 0) == 0; }

constexpr std::int64_t most = std::int64_t{1} << 31;

}  // namespace

TEST_CASE("of the greatest elements") {
  CHECK(refusal<greatest>(huge(most)) == "");
  CHECK(begins(refusal<greatest>(huge(most + 1)),
               "S19: positions along 'huge' (2147483649) do not fit i32, in which "
               "this operation gives them: give smaller extents (node "));
  CHECK(begins(refusal<greatest>(huge(3'000'000'000)), "S19: positions along 'huge' (3000000000) do not fit i32"));
}

TEST_CASE("of the greatest elements of parts") {
  CHECK(refusal<greatest_of_parts>(rest(most / 8 - 1)) == "");
  CHECK(begins(refusal<greatest_of_parts>(rest(most / 8)), "T02: 2147483648 stands beside a tensor of i32"));
}

TEST_CASE("of the largest values of a parameter, of which a message has i32") {
  CHECK(refusal<compressed_values>(huge(most / 4)) == "");
  CHECK(begins(refusal<compressed_values>(huge(most / 4 + 2)),
               "T02: 2147483655 stands beside a tensor of i32, whose elements are from -2147483648 to 2147483647"));
}

TEST_CASE("along a dim") {
  CHECK(refusal<counted<mt::dtype::u8>>(huge(256)) == "");
  CHECK(begins(refusal<counted<mt::dtype::u8>>(huge(258)),
               "S19: positions along 'huge' (258) do not fit u8, in which this operation gives them: write mt::i64"));
  CHECK(refusal<counted<mt::dtype::i32>>(huge(most)) == "");
  CHECK(begins(refusal<counted<mt::dtype::i32>>(huge(most + 2)), "S19: positions along 'huge' (2147483650)"));
  CHECK(refusal<counted<mt::dtype::i64>>(huge(most + 2)) == "");
  CHECK(refusal<counted<mt::dtype::f64>>(huge(most + 2)) == "");
}

TEST_CASE("of a window's greatest element") {
  CHECK(refusal<pooled<width_dim, other_kernel_dim>>() == "");
  CHECK(begins(refusal<pooled<larger_width_dim, larger_kernel_dim>>(),
               "S19: positions along 'kernel' (65536) and 'larger_kernel' (32769) do not fit i32"));
}

TEST_CASE("counts of rows") {
  CHECK(refusal<sent>(huge(most - 2)) == "");
  CHECK(begins(refusal<sent>(huge(most)), "S19: positions along 'huge' (2147483648) do not fit i32"));
}

TEST_CASE("in i64 all fit") { CHECK(refusal<in_wide_integers>(huge(3'000'000'000)) == ""); }

TEST_CASE("numbers made of extents") {
  CHECK(refusal<of_an_extent>(huge(most / 2 - 1)) == "");
  CHECK(begins(refusal<of_an_extent>(huge(most / 2)),
               "T02: 2147483648 stands beside a tensor of i32, whose elements are from -2147483648 to 2147483647"));
}
