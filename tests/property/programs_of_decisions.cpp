// SPDX-License-Identifier: Apache-2.0
// Loops and branches within each other in a map, of which some differ by index, and a map within loops: beside each
// index alone.
// passes: start-up
// timeout: 300
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/switch_case.hpp"
#include "meshtensor/op/while_loop.hpp"
#include "property/index_by_index.hpp"

using namespace property;
using mt::to;

namespace {

inline constexpr struct example : mt::dim<"example", 5> {} example;
inline constexpr struct parts : mt::dim<"parts", 3> {} parts;
inline constexpr struct width : mt::dim<"width", 2> {} width;
inline constexpr struct next_width : mt::dim<"next_width", 2> {} next_width;

/// Newton's method for the square root of a sum, by the gradient of its own gap in each iteration. Differentiated
/// through its iterations, which are recomputed in the backward loop.
template <bool IsAlone, bool Recomputes>
struct by_own_gradient {
  constexpr void operator()(mt::scope auto s) const {
    auto x = input_of<IsAlone>(s, "x", s.real(), example, width);
    auto w = s.parameter("w", width, mt::constant(1.5));
    auto [count, y, dw] =
        map_or_alone<IsAlone>(s / "examples", example, std::tuple(x), [&](mt::scope auto m, auto one) {
          auto target = sum(w * one * one, width) + 0.1;
          auto gap = [&](auto v) { return v * v - target; };
          auto limit = Recomputes ? mt::at_most(12).recomputing(3) : mt::at_most(12);
          auto [n, root] = mt::while_loop(
              m / "newton", limit, [&](auto, auto v) { return abs(gap(v)) > 1e-9; },
              [&](auto, auto v) { return v - gap(v) / gradient(gap(v), v); }, target + 1);
          return std::tuple(n, root, gradient(root * root, w));
        });
    s.output("count", count), s.output("y", y), s.output("dw", dw);
    auto [dx, all] = gradient(sum(y * y), x, w);
    s.output("dx", dx), s.output("sum_dw", all);
  }
};

/// A branch in a loop, a loop in a branch, and a choice in both: all of them differ by index. What is not taken would
/// be infinite or NaN.
template <bool IsAlone>
struct within_each_other {
  constexpr void operator()(mt::scope auto s) const {
    auto x = input_of<IsAlone>(s, "x", s.real(), example, width);
    auto a = input_of<IsAlone>(s, "a", s.real(), example);
    auto way = input_of<IsAlone>(s, "way", mt::i32, example);
    auto w = s.parameter("w", width, next_width, mt::normal(0.7));
    auto [y, d_one] = map_or_alone<IsAlone>(
        s / "examples", example, std::tuple(x, a, way), [&](mt::scope auto m, auto one, auto gain, auto k) {
          auto mapped = [&](auto v) { return rename(tanh(einsum(v, w, to(next_width))), next_width, width); };
          auto [n, last, i] = mt::while_loop(
              m / "outer", mt::at_most(4),
              [](auto, auto v, auto number) { return sum(v * v, width) > 0.05 && number < 3; },
              [&](mt::scope auto b, auto v, auto number) {
                auto next = mt::cond(
                    b / "side", gain > 0,
                    [&](mt::scope auto c) {
                      auto [inner, end] = mt::while_loop(
                          c / "inner", mt::at_most(5), [](auto, auto u) { return max(abs(u)) > 0.4; },
                          [&](auto, auto u) { return mapped(u) * 0.9; }, v);
                      return end * sqrt(gain);
                    },
                    [&](mt::scope auto c) {
                      return mt::switch_case(
                          c / "way", k, [&](auto) { return mapped(v) / (gain - 1); },
                          [&](auto) { return log(v * v) * 0.1; }, [&](auto) { return v * 0.5; });
                    });
                return std::tuple(next, number + 1);
              },
              one, mt::full(m, 0, mt::i32));
          auto loss = sum(last * last, width);
          return std::tuple(last, gradient(loss, one));
        });
    s.output("y", y), s.output("d_one", d_one);
    auto [dx, da, dw] = gradient(sum(y * y), x, a, w);
    s.output("dx", dx), s.output("da", da), s.output("sum_dw", dw);
  }
};

/// Per-example gradients of the parts of a batch, clipped and added up part by part: a map in a scan. The examples of a
/// part take as many inner steps as their loss asks for.
template <bool IsAlone>
struct clipped_in_parts {
  constexpr void operator()(mt::scope auto s) const {
    auto x = input_of<IsAlone>(s, "x", s.real(), example, parts, width);
    auto w = s.parameter("w", width, mt::constant(0.5));
    auto part = [&](mt::scope auto m, auto one) {
      auto loss = [&](auto v) { return exp(sum(v * one, width)); };
      auto [n, fast] = mt::while_loop(
          m / "adapt", mt::at_most(6), [&](auto, auto v) { return loss(v) > 1; },
          [&](auto, auto v) { return v - 0.2 * gradient(loss(v), v); }, w);
      auto g = gradient(loss(fast), w);  // through the inner steps
      return g / maximum(1, sqrt(sum(g * g) + 1e-12) / 0.3);
    };
    auto [all, by_part] = mt::scan(s / "parts", parts, 0 * w, x, [&](mt::scope auto p, auto total, auto now) {
      if constexpr (IsAlone) {
        auto next = total + mt::layer(part)(p / "examples", now);
        return std::tuple(next, next);
      } else {
        auto next = total + sum(mt::map(p / "examples", example, now, part), example);
        return std::tuple(next, next);
      }
    });
    s.output("total", all), s.output("by_part", by_part);
  }
};

/// Members that go on together until the last of them is settled, each with a loop of its own in between: an each in a
/// loop.
template <bool IsAlone>
struct together {
  constexpr void operator()(mt::scope auto s) const {
    auto x = input_of<IsAlone>(s, "x", s.real(), example, width);
    auto w = s.parameter("w", width, next_width, mt::normal(0.5));
    auto body = [&](mt::scope auto m, auto one) {
      auto [n, y] = mt::while_loop(
          m / "own", mt::at_most(3), [](auto, auto v) { return sum(v * v, width) > 0.01; },
          [&](auto, auto v) { return rename(tanh(einsum(v, w, to(next_width))), next_width, width); }, one);
      return y;
    };
    auto [count, last] = mt::while_loop(
        s / "all", mt::at_most(5), [](auto, auto v) { return max(abs(v)) > 0.01; },
        [&](mt::scope auto b, auto v) { return map_or_alone<IsAlone>(b / "examples", example, std::tuple(v), body); },
        x);
    s.output("last", last);
    auto [dx, dw] = gradient(sum(last), x, w);
    s.output("dx", dx), s.output("sum_dw", dw);
  }
};

void all_finite(mt::blocks const& given) {
  for (auto const& [label, b] : given)
    for (std::int64_t k = 0; k < b.size(); ++k) CHECK_MESSAGE(std::isfinite(b.number_at(k)), label);
}

}  // namespace

TEST_CASE("a loop in a map takes the gradient of its own iteration, and is differentiated") {
  hold_index_by_index<by_own_gradient<false, false>, by_own_gradient<true, false>>(
      "Newton by gradients", {.dim = "example", .extent = 5, .steps = 2, .tolerance = 1e-7}, all_finite);
  hold_index_by_index<by_own_gradient<false, true>, by_own_gradient<true, false>>(
      "Newton by gradients, recomputing", {.dim = "example", .extent = 5, .steps = 2, .tolerance = 1e-7}, all_finite);
}
TEST_CASE("loops, branches and choices that differ by index stand in each other") {
  hold_index_by_index<within_each_other<false>, within_each_other<true>>(
      "within each other",
      {.dim = "example",
       .extent = 5,
       .steps = 3,
       .fill =
           [](mt::blocks& inputs, int step) {
             double const a[] = {2, -1, 1, 0.5, -3};
             int const way[] = {0, 1, 2, 0, 2};
             for (int i = 0; i < 5; ++i)
               inputs["a"].set(i, a[(i + step) % 5]), inputs["way"].set(i, way[(i + step) % 5]);
             int const zeros = (5 + 2 - step) % 5;  // an example that takes no logarithm: a = 1
             inputs["x"].set(2 * zeros, 0);
           }},
      all_finite);
}
TEST_CASE("clipped gradients of examples are added up part by part") {
  hold_index_by_index<clipped_in_parts<false>, clipped_in_parts<true>>(
      "clipped in parts", {.dim = "example", .extent = 5, .steps = 2}, all_finite);
}
TEST_CASE("members go on together, each with a loop of its own") {
  hold_index_by_index<together<false>, together<true>>("together",
                                                       {.dim = "example",
                                                        .extent = 5,
                                                        .steps = 1,
                                                        .fill =
                                                            [](mt::blocks& inputs, int) {
                                                              for (int k = 0; k < 10; ++k)
                                                                inputs["x"].set(k, 0.5 + 0.1 * k);
                                                            }},
                                                       all_finite);
}
