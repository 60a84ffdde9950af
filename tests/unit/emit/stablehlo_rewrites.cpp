// SPDX-License-Identifier: Apache-2.0
// The passes before a module is written as StableHLO: which sums and products they write in another way, and which they
// leave.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <type_traits>

#include "meshtensor/emit/stablehlo.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::hlo::op;

namespace {

inline constexpr struct batch : mt::dim<"batch", 3> {} batch;
inline constexpr struct rows : mt::dim<"rows", 5> {} rows;
inline constexpr struct channels : mt::dim<"channels", 4> {} channels;

/// A program of one tensor and two tensors of fewer dims, which `Body` computes with.
template <mt::dtype Type, auto Body>
struct of_three {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::dtype_constant<Type>{}, batch, channels);
    auto const a = s.input("a", mt::dtype_constant<Type>{}, channels);
    auto const b = s.input("b", mt::dtype_constant<Type>{}, channels);
    s.output("y", Body(x, a, b));
  }
};

/// A norm of a tensor, beside its own variance or beside another number.
constexpr auto norm_of = []<bool Own>(auto x, auto a, std::bool_constant<Own>) {
  auto const wide = mt::cast<mt::dtype::f64>(x);
  auto const centre = mean(wide, batch);
  auto const squares = [&] {
    if constexpr (Own) return mean(wide * wide, batch);
    else return mean(wide * (wide + wide), batch);
  }();
  auto const scale = rsqrt(mt::cast<mt::dtype::f32>(squares - centre * centre) + 1e-5);
  return (mt::cast<mt::dtype::f32>(x) - mt::cast<mt::dtype::f32>(centre)) * scale + mt::cast<mt::dtype::f32>(a);
};

template <mt::name Name>
struct two : mt::dim<Name, 2> {};

/// A product of three operands. The first two have eleven dims together, although each operand and the result have at
/// most ten.
struct eleven_dims_midway {
  constexpr void operator()(mt::scope auto s) const {
    auto const all = mt::to(two<"a">{}, two<"b">{}, two<"c">{}, two<"d">{}, two<"e">{}, two<"f">{}, two<"g">{},
                            two<"h">{}, two<"i">{});
    auto const many = [&]<class... D>(mt::to_dims<D...>) {
      auto const x = s.input("x", mt::f32, rows, D{}...);
      auto const z = s.input("z", mt::f32, D{}..., channels);
      return einsum(x, s.input("y", mt::f32, rows, channels, batch), z, mt::to(batch, D{}...));
    };
    s.output("y", many(all));
  }
};

/// A program on one rank, with its rewrites.
struct rewritten_program {
  std::unique_ptr<mt::lowering> l;
  mt::hlo::rewrites made;
  mt::stablehlo_options how;

  template <class Program>
  static rewritten_program of(Program, mt::stablehlo_options const& how = {}) {
    auto const traced = mt::on_heap([] { return mt::trace<Program>(); });
    auto l = mt::lower(*traced, mt::entry_name<Program>(), mt::mesh_shape{}.add("data", 1), {}, {});
    auto made = mt::hlo::rewritten(l->graph, l->planned.numbers, how);
    return {std::move(l), std::move(made), how};
  }
  std::string text() const { return text_of(made); }
  int count(op kind) const {
    int n = 0;
    for (auto const& [v, own] : made.of)
      for (auto const* list : {&own.at_node, &own.at_use})
        for (mt::hlo::operation const& o : *list) n += o.kind == kind ? 1 : 0;
    return n;
  }
  /// How often the text has an operation with a result of this type.
  int written(std::string const& name, std::string const& type) const {
    std::string const whole = mt::stablehlo(l->graph, l->entry, l->planned.numbers, {}, how).text;
    int n = 0;
    for (std::size_t at = 0; (at = whole.find("stablehlo." + name + "\"", at)) != whole.npos; ++at)
      n += whole.substr(at, whole.find('\n', at) - at).ends_with("-> " + type) ? 1 : 0;
    return n;
  }
};
template <auto Body, mt::dtype Type = mt::dtype::f32>
rewritten_program of(mt::stablehlo_options const& how = {}) {
  return rewritten_program::of(of_three<Type, Body>{}, how);
}

}  // namespace

TEST_CASE("factors of few dims are multiplied with each other before the tensor") {
  auto const p = of<[](auto x, auto a, auto b) { return (x - a) * a * b + b; }>();
  CHECK(p.text() ==
        "%3 at its node\n"
        "%4 at its node\n"
        "%5 at its node\n"
        "  %7: f32[channels] = multiply(%1, %2)\n"
        "%6 at its node\n"
        "%6 at its first use\n"
        "  %8: f32[batch, channels] = subtract(%0, %1)\n"
        "  %9: f32[batch, channels] = multiply(%8, %7)\n"
        "  %6: f32[batch, channels] = add(%9, %2)\n");
  CHECK(p.written("multiply", "tensor<4xf32>") == 1);
  CHECK(p.written("multiply", "tensor<3x4xf32>") == 1);
}

TEST_CASE("the centre of a widened bf16 joins the rest, and that of an f32 does not") {
  constexpr auto norm = [](auto x, auto a, auto b) {
    return (mt::cast<mt::dtype::f32>(x) - mt::cast<mt::dtype::f32>(a)) * mt::cast<mt::dtype::f32>(b) +
           mt::cast<mt::dtype::f32>(a);
  };
  auto const narrow = of<norm, mt::dtype::bf16>(), wide = of<norm, mt::dtype::f64>();
  CHECK(narrow.written("subtract", "tensor<3x4xf32>") == 0);
  CHECK(narrow.written("subtract", "tensor<4xf32>") == 1);
  CHECK(narrow.count(op::varies) == 0);  // the program has no variance
  CHECK(wide.written("subtract", "tensor<3x4xf32>") == 1);
  CHECK(wide.written("subtract", "tensor<4xf32>") == 0);
}

TEST_CASE("a factor is zero where the variance is that of a constant, if the variance is of the same tensor") {
  constexpr auto same = [](auto x, auto a, auto) { return norm_of(x, a, std::true_type{}); };
  constexpr auto other = [](auto x, auto a, auto) { return norm_of(x, a, std::false_type{}); };
  CHECK(of<same, mt::dtype::bf16>().count(op::varies) == 1);
  CHECK(of<other, mt::dtype::bf16>().count(op::varies) == 0);
  CHECK(of<same, mt::dtype::f32>().count(op::varies) == 0);
}

TEST_CASE("a sum of products by one factor is the sum times the factor") {
  auto const p = of<[](auto x, auto a, auto) { return sum(x * a, batch); }>();
  CHECK(p.count(op::sum) == 1);
  CHECK(p.written("multiply", "tensor<4xf32>") == 1);
  CHECK(p.written("multiply", "tensor<3x4xf32>") == 0);
  auto const over_channels = of<[](auto x, auto a, auto) { return sum(x * a, channels); }>();
  CHECK(over_channels.count(op::sum) == 0);
  CHECK(over_channels.written("multiply", "tensor<3x4xf32>") == 1);
}

TEST_CASE("what has no gain is left") {
  CHECK(of<[](auto x, auto a, auto) { return x * a; }>().text() == "");                      // nobody joins the product
  CHECK(of<[](auto x, auto, auto) { return (x + x) * x; }>().text() == "");                  // no tensor of fewer dims
  CHECK(of<[](auto, auto a, auto b) { return (a - b) * a + b; }>().text() == "");            // one dim
  CHECK(of<[](auto x, auto a, auto b) { return exp(x * a) * exp(x) + b; }>().text() == "");  // other functions between
  CHECK(of<[](auto x, auto a, auto b) { return x * a * b; }, mt::dtype::i32>().text() == "");
  CHECK(of<[](auto x, auto a, auto b) { return x * a * b; }, mt::dtype::bf16>().text() == "");
}

TEST_CASE("a sum that several nodes use is made once") {
  auto const p = of<[](auto x, auto a, auto b) {
    auto const shared = x * a + x * b;
    return shared * a + exp(shared);
  }>();
  CHECK(p.written("add", "tensor<3x4xf32>") == 2);
}

namespace {

struct sums {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = mt::cast<mt::dtype::f64>(s.input("x", mt::f32, batch, rows, channels));
    auto const y = mt::cast<mt::dtype::f64>(s.input("y", mt::bf16, batch, channels));
    s.output("x", sum(x, batch, rows)), s.output("squares", sum(x * x, batch, rows));
    s.output("both", sum(x * y, batch, rows));
  }
};
struct other_sums {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows);
    auto const wide = s.input("wide", mt::f64, batch, rows);
    s.output("f32", sum(x, batch)), s.output("f64", sum(wide, batch)), s.output("max", max(wide, batch));
    s.output("product", sum(wide * mt::cast<mt::dtype::f64>(x), batch));
    s.output("integers", sum(mt::cast<mt::dtype::f64>(s.input("i", mt::i32, batch)), batch));
  }
};

}  // namespace

TEST_CASE("sums in f64 of narrower values are composed for devices without f64, and share deviations") {
  CHECK(rewritten_program::of(sums{}).count(op::sum_in_parts) == 0);
  auto const p = rewritten_program::of(sums{}, {.has_f64 = false});
  CHECK(p.count(op::median_of_some) == 2);  // of x and of y
  CHECK(p.count(op::sum_in_parts) == 4);    // the deviations of x and y, and their products for two of the sums
  CHECK(p.count(op::lay_out) == 1);         // y lacks a dim
  CHECK(p.written("reduce", "tensor<4xf32>") == 4);
  CHECK(rewritten_program::of(other_sums{}, {.has_f64 = false}).count(op::sum_in_parts) == 0);
}

TEST_CASE("a product of the first operands with too many dims is refused, at its line") {
  auto const p = rewritten_program::of(eleven_dims_midway{});
  CHECK_THROWS_WITH_AS(p.written("dot_general", ""),
                       doctest::Contains("T07: the product of the first 2 operands has more than 10 dims: begin with "
                                         "operands that share dims, or sum over dims before (node %"),
                       mt::error);
  CHECK_THROWS_WITH_AS(p.written("dot_general", ""), doctest::Contains(" einsum, stablehlo_rewrites.cpp:"), mt::error);
}
