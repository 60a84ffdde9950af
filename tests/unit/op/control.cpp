// SPDX-License-Identifier: Apache-2.0
// Loops and branches: results beside the same written out, and the laws, because what runs in a region takes fresh
// dims as any operation does.
// passes: start-up
#include "meshtensor/op/control.hpp"

#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/while_loop.hpp"
#include "unit/op/laws.hpp"

using namespace laws;
using mt::to;

namespace {
inline constexpr struct steps_dim : mt::dim<"steps", 3> {} steps;
inline constexpr struct b_2_dim : mt::dim<"b_2", 3> {} b_2;
inline constexpr struct one_dim : mt::dim<"one", 1> {} one;

/// The product if 0 + 1 + 2 is not less than `least`, else the difference.
constexpr auto chosen(auto s, auto x, auto y, int least) {
  return cond(s, sum(iota(s, b, mt::i32)) >= least, [&](auto) { return x * y; }, [&](auto) { return x - y; });
}

/// The product, times x plus y as long as a count that starts at 3 is less than 6; scaled by 10 trips + the count.
constexpr auto risen(auto s, auto x, auto y) {
  auto const [trips, n, h] = while_loop(
      s, mt::at_most(9), [](auto, auto k, auto) { return k < 6; },
      [&](auto, auto k, auto g) { return std::tuple(k + 1, g * x + y); }, sum(iota(s, b, mt::i32)), x * y);
  return h * mt::cast<mt::dtype::f64>(trips * 10 + mt::cast<mt::dtype::i64>(n));
}
}  // namespace

TEST_CASE("regions do what is written in them") {
  hold_same(
      "repeat",
      [](auto s, auto x, auto y, auto...) {
        return repeat(s / "loop", steps, x * y, [&](auto, auto h) { return tanh(h * x + y); });
      },
      [](auto, auto x, auto y, auto...) { return tanh(tanh(tanh(x * y * x + y) * x + y) * x + y); });
  hold_same(
      "scan",
      [](auto s, auto x, auto y, auto...) {
        auto const step = [](auto, auto h, auto xt) { return std::tuple(h * 0.5 + xt, h * xt); };
        auto const [last, all] = scan(s / "loop", b, sum(x, b), x, step);
        return sum(all, b) * sum(y) + last;
      },
      [](auto, auto x, auto y, auto...) {
        auto const at = [&](int i) { return sum(slice(x, b, one, i), one); };
        auto const h_0 = sum(x, b), h_1 = h_0 * 0.5 + at(0), h_2 = h_1 * 0.5 + at(1);
        return (h_0 * at(0) + h_1 * at(1) + h_2 * at(2)) * sum(y) + (h_2 * 0.5 + at(2));
      });
  hold_same(
      "cond that holds", [](auto s, auto x, auto y, auto...) { return chosen(s, x, y, 3); },
      [](auto, auto x, auto y, auto...) { return x * y; });
  hold_same(
      "cond that does not", [](auto s, auto x, auto y, auto...) { return chosen(s, x, y, 4); },
      [](auto, auto x, auto y, auto...) { return x - y; });
  hold_same(
      "while_loop", [](auto s, auto x, auto y, auto...) { return risen(s, x, y); },
      [](auto, auto x, auto y, auto...) { return (((x * y * x + y) * x + y) * x + y) * 36; });
}

TEST_CASE("repeat") {
  hold_for_one("a carry alone", [](auto s, auto x, auto, auto...) {
    return repeat(s / "loop", steps, x, [](auto, auto h) { return sin(h) * h + 0.2; });
  });
  hold("a carry and what the body uses besides", [](auto s, auto x, auto y, auto...) {
    return repeat(s / "loop", steps, x * y, [&](auto, auto h) { return tanh(h * x + y); });
  });
  hold("two carries that trade places", [](auto s, auto x, auto y, auto...) {
    auto const [p, q] = repeat(s / "loop", steps, std::tuple(x * y, x + y),
                               [](auto, auto h, auto g) { return std::tuple(g * 0.5, h * g); });
    return p - q;
  });
  hold("a matrix product", [](auto s, auto x, auto y, auto... more) {
    auto const square = sum(y * rename(y, b, b_2), c);
    auto const start = x * sum(y, c);
    return repeat(s / "loop", steps, start,
                  [&](auto, auto h) { return rename(einsum(tanh(h), square, to(a, b_2, more...)), b_2, b) * 0.3; });
  });
}

TEST_CASE("scan") {
  hold_for_one("the last carry", [](auto s, auto x, auto, auto...) {
    return std::get<0>(scan(s / "loop", b, max(x, b), x, [](auto, auto h, auto xt) {
      auto const next = sin(h) * xt;
      return std::tuple(next, next);
    }));
  });
  hold("all that was stacked", [](auto s, auto x, auto y, auto...) {
    auto const [last, all] = scan(s / "loop", b, sum(x * y, b), std::tuple(x, y), [](auto, auto h, auto xt, auto yt) {
      auto const next = tanh(h * xt + yt);
      return std::tuple(next, next * xt);
    });
    return all + last;
  });
}

TEST_CASE("a loop in a loop") {
  hold("scan in repeat", [](auto s, auto x, auto y, auto...) {
    return repeat(s / "outer", steps, x * y, [&](auto r, auto h) {
      auto const [last, all] = scan(r / "inner", b, sum(h, b), h, [&](auto, auto g, auto part) {
        auto const next = sin(g * 0.5 + part);
        return std::tuple(next, next * part);
      });
      return all * 0.5 + last + y;
    });
  });
}

// A branch is chosen, and a loop ends, for all slices at once; so what decides has no fresh dim.
TEST_CASE("cond and while_loop") {
  hold("cond that holds", [](auto s, auto x, auto y, auto...) { return chosen(s, x, y, 3); });
  hold("cond that does not", [](auto s, auto x, auto y, auto...) { return chosen(s, x, y, 4); });
  hold("while_loop", [](auto s, auto x, auto y, auto...) { return risen(s, x, y); });
}
