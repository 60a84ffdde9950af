// SPDX-License-Identifier: Apache-2.0
// Small programs that between them have every kind of region: what the tests of the passes run on.
#pragma once

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor_test {
namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 3> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;
inline constexpr struct hidden : mt::dim<"hidden", 5> {} hidden;
inline constexpr struct hidden_in : mt::dim<"hidden_in", 4> {} hidden_in;
inline constexpr struct layers : mt::dim<"layers", 2> {} layers;
inline constexpr struct time : mt::dim<"time", 3> {} time;

/// A two-layer network with its gradient and an update: much is computed twice, much not needed.
struct network {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto w = s.parameter("w", in, hidden);
    auto v = s.parameter("v", hidden);
    auto h = tanh(einsum(x, w, mt::to(batch, hidden)) * 1.0 + v);
    auto again = tanh(einsum(x, w, mt::to(batch, hidden)) * 1.0 + v);
    auto loss = einsum(h, again, mt::to()) / 1.0;
    static_cast<void>(exp(h));  // needed by nobody
    s.output("loss", loss);
    auto g = mt::gradient_by_parameters<mt::dtype::f32>(loss);
    for (int i = 0; i < g.size(); ++i)
      s.update(g[i].parameter, g[i].parameter - g[i].gradient * s.number("rate", 0.125));
  }
};

inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto w = s.parameter("w", in);
  auto same = tanh(x * w);
  return tanh(x * w) + x * same;
};

/// A loop with parameters of its own, and its gradient.
struct deep {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = repeat(s / "blocks", layers, x * s.parameter("scale", in), block);
    auto loss = einsum(y, y, mt::to());
    s.output("loss", loss);
    auto g = mt::gradient_by_parameters<mt::dtype::f32>(loss);
    for (int i = 0; i < g.size(); ++i) s.update(g[i].parameter, g[i].parameter - g[i].gradient * 0.25);
  }
};

/// A scan with two carries, one of which matters only to itself, two equal outputs, and invariants that are the same.
struct recurrent {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, time);
    auto start = s.input("start", mt::f32, batch, in);
    auto one = start * 2, other = start * 2;
    auto [last, ys] =
        scan(s / "cell", time, std::tuple(start, start), x, [&](mt::scope auto r, auto h, auto idle, auto xt) {
          auto next = tanh(h * r.parameter("w", in) + xt + one * other);
          return std::tuple(std::tuple(next, idle + 1), std::tuple(next * 2, next * 2, exp(next)));
        });
    s.output("h", std::get<0>(last));
    s.output("y", std::get<0>(ys) + std::get<1>(ys));
  }
};

/// Carries that start alike and differ later, one that forgets what it was, one that only its loop sees the end of; and
/// a sequence that is used slice by slice and whole.
struct carried {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, time, batch);
    auto start = s.input("start", mt::f32, batch);
    auto [last, ys] = scan(s / "cell", time, std::tuple(start, start, start), x,
                           [&](mt::scope auto, auto a, auto b, auto c, auto xt) {
                             return std::tuple(std::tuple(a + xt, xt * 3, c - xt * 0.5),
                                               std::tuple(c * 2 + einsum(x, mt::to(batch)), a + b));
                           });
    s.output("a", std::get<0>(last));
    s.output("b", std::get<1>(last));
    s.output("y", std::get<0>(ys));
  }
};

/// Branches and a loop whose length the data decide; some of what they give is not used.
struct branching {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto p = s.input("p", mt::boolean);
    auto y = x + 1, dead = x * 3;
    auto [a, b] =
        cond(s / "c", p, [&](auto) { return std::tuple(y * 2, dead); }, [&](auto) { return std::tuple(y - x, y); });
    auto [trips, u, v, w] = while_loop(
        s / "w", mt::at_most(5), [](auto, auto h, auto, auto) { return einsum(h, mt::to()) < 8.0; },
        [&](auto, auto h, auto k, auto l) { return std::tuple(h + y, k * 2, l + k); }, a, x, x);
    s.output("u", u);
    s.output("trips", trips);
  }
};

/// Composites, one with a gradient of its own, and random numbers that must stay what they are.
struct composed {
  static constexpr auto cube(auto x) {
    return composite("cube", [](auto a) { return a * a * a; }, x);
  }
  static constexpr auto soft(auto x) {
    return composite_with_gradient(
        "soft", [](auto a) { return tanh(a) * 1.0; }, [](auto, auto y, auto dy) { return dy * (1 - y * y); }, x);
  }
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto w = s.parameter("w", in);
    auto y = soft(cube(x * w)) + soft(x);
    auto loss = einsum(y, y, mt::to());
    s.output("loss", loss);
    s.update(w, w - gradient(loss, w));
  }
};

/// Random numbers that look alike and are not, inside a loop in a loop.
struct noisy {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = repeat(s / "outer", layers, x, [](mt::scope auto r, auto h) {
      auto noise = uniform(r / "noise", mt::f32, mt::to(batch, in));
      auto more = uniform(r / "noise", mt::f32, mt::to(batch, in));
      return repeat(r / "inner", time, h + noise * more, [](mt::scope auto q, auto g) {
        return g * 0.5 + uniform(q, mt::f32, mt::to(in)) - uniform(q, mt::f32, mt::to(in)) + (g * 0.5);
      });
    });
    s.output("y", y);
  }
};

/// Renamed there and back, transposed twice, repeated and repeated, cast up and down, and times one.
struct moved {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = rename(rename(x, in, hidden_in), hidden_in, in);
    auto z = transpose(transpose(y, mt::to(in, batch)), mt::to(batch, in));
    auto w = transpose(broadcast(transpose(z, mt::to(in, batch)), mt::to(time, in, batch)), mt::to(batch, time, in));
    auto c = mt::cast<mt::dtype::f32>(mt::cast<mt::dtype::f64>(w)) / 1.0 - 0.0;
    auto n = mt::cast<mt::dtype::i32>(x * 10) + 0;
    s.output("c", -(-c) + 0.0 + x * -1);
    s.output("n", select(n < 3, n * 1, n * 1));
    s.output("m", maximum(stop_gradient(z), z) * 0);
  }
};

/// A branch inside a loop whose parameters are those of the iteration.
struct guarded {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto y = repeat(s / "blocks", layers, x, [](mt::scope auto r, auto h) {
      auto w = r.parameter("w", in);
      auto large = einsum(h, h, mt::to()) < 2.0;
      return cond(r / "if", large, [&](auto) { return h * w + h * w; }, [&](auto) { return h - w * w; });
    });
    s.output("y", y);
  }
};

/// Two programs with one set of parameters.
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("h", tanh(einsum(x, s.parameter("w", in, hidden), mt::to(batch, hidden)) + s.parameter("v", hidden)));
  }
};
struct both : mt::programs<network, evaluate> {};

template <class Program>
inline constexpr mt::module traced = mt::trace<Program>();

}  // namespace meshtensor_test
