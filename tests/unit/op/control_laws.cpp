// SPDX-License-Identifier: Apache-2.0
// The laws of loops, branches and composites: what runs in a region takes fresh dims as any operation does.
// passes: start-up
#include "unit/op/laws.hpp"

#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/detail/composed.hpp"
#include "meshtensor/op/softmax.hpp"

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

/// Two ways to write one thing give the same numbers, gradients included.
template <int Order = 3, class F, class G>
void check_same(char const* what, F, G) {
  INFO(std::string(what));
  trial::program p = applying<F, false, false, handles::typed, Order>();
  trial::program q = applying<G, false, false, handles::typed, Order>();
  p.fill_at_random(0.4, 1.6), q.fill_at_random(0.4, 1.6);
  mt::blocks const got = p.run(), wanted = q.run();
  for (auto const& [label, b] : wanted)
    for (std::int64_t i = 0; i < b.size(); ++i) check_close(got.at(label).number_at(i), b.number_at(i), 1e-12);
}
}  // namespace

TEST_CASE("regions do what is written in them") {
  check_same(
      "repeat",
      [](auto s, auto x, auto y, auto...) {
        return repeat(s / "loop", steps, x * y, [&](auto, auto h) { return tanh(h * x + y); });
      },
      [](auto, auto x, auto y, auto...) { return tanh(tanh(tanh(x * y * x + y) * x + y) * x + y); });
  check_same(
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
  check_same(
      "composite",
      [](auto, auto x, auto y, auto...) {
        auto const [p, q] = composite("mine", [](auto u, auto v) { return std::tuple(sin(u) * v + u, u - v); }, x, y);
        return p * q - q;
      },
      [](auto, auto x, auto y, auto...) { return (sin(x) * y + x) * (x - y) - (x - y); });
  check_same(
      "cond that holds", [](auto s, auto x, auto y, auto...) { return chosen(s, x, y, 3); },
      [](auto, auto x, auto y, auto...) { return x * y; });
  check_same(
      "cond that does not", [](auto s, auto x, auto y, auto...) { return chosen(s, x, y, 4); },
      [](auto, auto x, auto y, auto...) { return x - y; });
  check_same(
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

TEST_CASE("composites of a user's own") {
  hold("one result", [](auto, auto x, auto y, auto...) {
    return composite("mine", [](auto p, auto q) { return sin(p) * q + p; }, x, y);
  });
  hold("two results, one operand from outside", [](auto, auto x, auto y, auto...) {
    auto const [p, q] = composite("mine", [&](auto u) { return std::tuple(u * y, exp(u)); }, x);
    return p * 2 + q;
  });
  hold_for_one("its own gradient", [](auto, auto x, auto, auto...) {
    return composite_with_gradient(
        "mine", [](auto u) { return sin(u) * u; }, [](auto u, auto, auto dy) { return dy * (cos(u) * u + sin(u)); }, x);
  });
  hold_for_one("its own gradient, which holds a loop and a composite with a gradient",
               [](auto s, auto x, auto, auto...) {
                 return composite_with_gradient(
                     "mine", [](auto u) { return power(u, 9) * softmax(u, b); },
                     [&](auto u, auto y, auto dy) {
                       auto const by_power = repeat(s / "loop", steps, u, [](auto, auto h) { return h * h; });
                       auto const p = softmax(u, b);
                       return 9 * dy * by_power * p + dy * y - p * sum(dy * y, b);
                     },
                     x);
               });
  hold("its own gradient, which takes the cotangent of the first result alone", [](auto, auto x, auto y, auto...) {
    return std::get<0>(composite_with_gradient(
        "mine",
        [](auto u, auto v) {
          auto const kept = exp(u * 0.5);
          return std::tuple(kept * v, kept);
        },
        [](auto u, auto v, auto, auto kept, auto d) {
          return std::tuple(sum_like(d * v * kept * 0.5, u), sum_like(d * kept, v));
        },
        x, y));
  });
  hold("its own gradient, in a loop", [](auto s, auto x, auto y, auto...) {
    return repeat(s / "loop", steps, x * y, [&](auto, auto h) {
      auto const [p, q] = composite_with_gradient(
          "mine",
          [](auto u, auto v) {
            auto const kept = tanh(u * v);
            return std::tuple(kept * u, kept);
          },
          [](auto u, auto v, auto, auto kept, auto d) {
            auto const d_inner = d * u * (1 - kept * kept);
            return std::tuple(sum_like(d_inner * v + d * kept, u), sum_like(d_inner * u, v));
          },
          h, y);
      return p + q * 0.5;
    });
  });
  hold("its own gradient, of two operands and two results", [](auto, auto x, auto y, auto...) {
    auto const [p, q] = composite_with_gradient(
        "mine", [](auto u, auto v) { return std::tuple(u * v, u + v); },
        [](auto u, auto v, auto, auto, auto dp, auto dq) { return std::tuple(dp * v + dq, dp * u + dq); }, x * y,
        x + y);
    return p * q;
  });
}
