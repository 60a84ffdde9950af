// SPDX-License-Identifier: Apache-2.0
// Programs of loops that end early and of branches, with gradients: collectives within them wherever batch or model is
// sharded.
#pragma once

#include "support/programs.hpp"

namespace loops_that_end {

namespace mt = meshtensor;
using mt::to;
using programs::batch, programs::length, programs::model, programs::inner;

/// A limit; `Together`: how many iterations the gradient recomputes at a time, 0: none.
template <int Together>
constexpr mt::at_most limited(int most) {
  return Together == 0 ? mt::at_most(most) : mt::at_most(most).recomputing(Together);
}

/// What comes of a result: its loss, that loss's gradient by x, and the gradient of the gradient's square.
constexpr void observe(auto s, auto const& y, auto const& x) {
  auto const loss = programs::weighed(y);
  auto const dx = gradient(loss, x);
  s.output("y", y);
  s.output("loss", loss);
  s.output("dx", dx);
  s.output("ddx", gradient(sum(dx * dx) * 100, x));
}

/// Two layers, as long as the square sum of what they give is less than `Until`, at most `Most` times.
template <int Until, int Most, int Together = 0>
struct layers_until {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const up = s.parameter("up", model, inner);
    auto const down = s.parameter("down", inner, model);
    auto const [count, y] = while_loop(
        s / "layers", limited<Together>(Most), [&](auto, auto h) { return sum(h * h) < Until; },
        [&](auto, auto h) {
          auto const wide = tanh(einsum(h, up, to(batch, inner)));
          return h * 1.25 + einsum(wide, down, to(batch, model)) + mean(h, batch) * 0.5;
        },
        x);
    s.output("count", count);
    observe(s, y, x);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", programs::weighed(y));
  }
};

/// A loop within a scan, with as many iterations as the place in the sequence says, none at first; with random numbers
/// and an average that is a state.
template <int Together = 0>
struct within_a_scan_of {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, length, model);
    auto const w = s.parameter("w", model, mt::normal(0.5));
    auto const seen = s.state("seen", s.real(), model);
    auto const zero = full(s, 0, mt::i32, to());
    auto const [last, all] =
        scan(s / "outer", length, std::tuple(zero, sum(x, length)), x, [&](auto r, auto place, auto h, auto xt) {
          auto const [count, k, g] = while_loop(
              r / "inner", limited<Together>(4), [&](auto, auto i, auto) { return i < place % 4; },
              [&](auto q, auto i, auto v) {
                auto const noise = uniform(q / "noise", s.real(), to(batch, model));
                q.update(seen, seen * 0.5 + mean(v, batch));
                return std::tuple(i + 1, sin(v) * w + noise * max(xt, model));
              },
              zero, h);
          return std::tuple(std::tuple(place + 1, g), g * mt::cast<r.compute>(count));
        });
    s.output("all", all);
    observe(s, std::get<1>(last), x);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", programs::weighed(std::get<1>(last)));
  }
};

using within_a_scan = within_a_scan_of<>;

/// A branch, of which `Holds` says whether the first one runs, with a loop within that, a product over a sharded dim,
/// and random numbers.
template <bool Holds>
struct branch {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const up = s.parameter("up", model, inner);
    auto const down = s.parameter("down", inner, model);
    auto const [y, z] = cond(
        s / "choice", (sum(x * x) >= 0) == Holds,
        [&](auto r) {
          auto const h = repeat(r / "layers", programs::layers, x, [&](auto q, auto g) {
            auto const wide = mt::nn::dropout(q / "drop", tanh(einsum(g, up, to(batch, inner))), 0.25);
            return g + einsum(wide, down, to(batch, model));
          });
          return std::tuple(h, sum(h, model));
        },
        [&](auto) { return std::tuple(x * mean(x, batch), exp(sum(x, model) * 0.1)); });
    s.output("z", z);
    observe(s, y * z, x);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", programs::weighed(y * z));
  }
};

/// A branch within a loop that ends early, either way by turns, and a loop that ends early within one of its branches.
struct branches_within {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const w = s.parameter("w", model, mt::normal(0.5));
    auto const [count, k, y] = while_loop(
        s / "loop", mt::at_most(7), [&](auto, auto i, auto) { return i < 5; },
        [&](auto r, auto i, auto h) {
          auto const next = cond(
              r / "either", i % 2 == 0, [&](auto) { return sin(h) * w + mean(h, batch); },
              [&](auto q) {
                auto const [n, j, g] = while_loop(
                    q / "within", mt::at_most(3), [&](auto, auto m, auto) { return m < i; },
                    [&](auto, auto m, auto v) { return std::tuple(m + 1, v + sum(v * v, model) * 0.01); }, i * 0, h);
                return g;
              });
          return std::tuple(i + 1, next);
        },
        full(s, 0, mt::i32, to()), x);
    s.output("count", count);
    observe(s, y, x);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", programs::weighed(y));
  }
};

/// Norms, with sums in f64 of f32, as long as the greatest element is less than a bound that normed rows never reach.
struct normed {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const [count, y] = while_loop(
        s / "loop", mt::at_most(3), [&](auto, auto h) { return max(h) < 4; },
        [&](auto r, auto h) { return mt::nn::layer_norm(r / "norm", h + sin(h), model); }, x);
    s.output("count", count);
    observe(s, y * x, x);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", programs::weighed(y * x));
  }
};

}  // namespace loops_that_end
