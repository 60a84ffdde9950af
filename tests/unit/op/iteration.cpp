// SPDX-License-Identifier: Apache-2.0
// The index of the innermost loop, as a tensor.
#include "meshtensor/op/iteration.hpp"

#include "meshtensor/op/control.hpp"
#include "unit/op/values.hpp"

using namespace laws;

namespace {
/// The node that `each` makes for loops whose conditions differ by index.
constexpr auto iteration(auto s) {
  mt::builder& b = s.graph_builder();
  return mt::tensor<mt::dtype::i64>(&b, b.add(mt::primitive::iteration, {}, mt::dtype::i64, mt::shape{}));
}
constexpr auto scaled = [](auto s, auto x, auto, auto...) {
  return repeat(s / "loop", row, x,
                [](auto r, auto h) { return sin(h) * (mt::cast<mt::f64>(iteration(r)) * 0.5 + 1); });
};
}  // namespace

TEST_CASE("values") {
  CHECK(of(
            [](auto s, auto x) {
              return repeat(s / "loop", row, x,
                            [](auto r, auto h) { return h * 10 + mt::cast<mt::f64>(iteration(r)); });
            },
            {0, 1, 2, 3, 4, 5}) == numbers{12, 1012, 2012, 3012, 4012, 5012});
  CHECK(of(
            [](auto s, auto x) {
              return std::get<1>(scan(s / "loop", row, sum(x), iota(s, row, mt::i64) + 3,
                                      [](auto r, auto h, auto i) { return std::tuple(h, i - iteration(r)); }));
            },
            one_to_six) == numbers{3, 3, 3});
  CHECK(of(
            [](auto s, auto x) {
              return repeat(s / "loop", first, sum(x),
                            [](auto r, auto h) { return h + mt::cast<mt::f64>(iteration(r)); });
            },
            one_to_six) == numbers{21});
}

TEST_CASE("a loop in a loop has its own") {
  CHECK(of(
            [](auto s, auto x) {
              return repeat(s / "outer", part, sum(x) * 0, [](auto r, auto h) {
                auto const inside =
                    repeat(r / "inner", row, h, [](auto q, auto g) { return g * 2 + mt::cast<mt::f64>(iteration(q)); });
                return inside + 100 * mt::cast<mt::f64>(iteration(r));
              });
            },
            one_to_six) == numbers{4 * 8 + 4 + 100});
}

TEST_CASE("laws") {
  hold_for_one("a factor in a loop", scaled);
  hold_sharded("a factor in a loop", scaled, "b");
}
