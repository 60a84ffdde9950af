// SPDX-License-Identifier: Apache-2.0
// Loops that run again for their gradients: the same numbers in less memory.
// passes: start-up
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {
inline constexpr struct batch_dim : mt::dim<"batch", 7> {} batch;
inline constexpr struct width_dim : mt::dim<"width", 6> {} width;
inline constexpr struct next_dim : mt::dim<"next", 6> {} next;
inline constexpr struct layers_dim : mt::dim<"layers", 8> {} layers;
inline constexpr struct time_dim : mt::dim<"time", 16> {} time_steps;
inline constexpr struct data_axis : mt::axis<"data"> {} data;
inline constexpr struct model_axis : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<width, model>> {};

constexpr auto cell(auto h, auto w) { return rename(tanh(einsum(h, w, to(batch, next))), next, width) + h * 1.25; }

template <bool Second>
constexpr void give(mt::scope auto s, auto loss, auto w, auto h) {
  auto const g = gradient(loss, w);
  s.output("loss", loss);
  s.output("last", h);
  if constexpr (Second) s.output("gradient", gradient(sum(g * g), w));
  else s.output("gradient", g);
}

/// Grows a state to a limit, in at most 20 iterations; `Together` 0: without recomputing.
template <int Together, bool Second = false>
struct growing {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const w = s.parameter("w", width, next);
    auto const limit = s.input("limit", mt::f32);
    mt::at_most const most = Together == 0 ? mt::at_most(20) : mt::at_most(20).recomputing(Together);
    auto const noisy = [&](mt::scope auto r, auto h) {
      return cell(h, w) + uniform(r / "noise", mt::f32, to(batch, width)) * 0.01;
    };
    auto const [ran, h] = while_loop(
        s / "grow", most,
        [&](mt::scope auto r, auto u) { return sum(u * u) < limit * (uniform(r / "chance", mt::f32, to()) * 0.2 + 1); },
        noisy, x);
    s.output("ran", ran);
    give<Second>(s, mean(h * h), w, h);
  }
};

/// Layers that each scan along time, of which the gradient keeps what it needs, or their inputs alone.
template <bool Again, bool Second = false>
struct layers_of_scans {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, width);
    auto const w = s.parameter("w", width, next);
    auto const layer = [&](mt::scope auto r, auto h) {
      auto const gains = r.parameter("gains", time_steps, width, mt::normal(0.1));
      auto const [last, all] = scan(r / "time", time_steps, h, gains, [&](auto, auto u, auto gain) {
        auto const v = cell(u, w) * 0.5 + gain;
        return std::tuple(v, sum(v, batch));
      });
      return last + mean(all, time_steps);
    };
    auto const h = [&] {
      if constexpr (Again) return repeat(s / "layers", layers, x, mt::rematerialize(layer));
      else return repeat(s / "layers", layers, x, layer);
    }();
    s.output("ran", full(s, 8, mt::i64, to()));
    give<Second>(s, mean(h * h) + s.input("limit", mt::f32), w, h);
  }
};

/// Of one name: random numbers depend on it.
namespace saving {
struct grown : growing<0> {};
struct twice : growing<0, true> {};
}  // namespace saving
namespace by_five {
struct grown : growing<5> {};
struct twice : growing<5, true> {};
}  // namespace by_five
namespace one_by_one {
struct grown : growing<1> {};
}  // namespace one_by_one
namespace all_at_once {
struct grown : growing<20> {};
}  // namespace all_at_once

struct outcome {
  std::vector<float> last, gradient;
  float loss;
  std::int64_t ran, bytes;
};
template <class Program>
outcome run(int a, int b, float limit = -1) {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<Program, mesh, layout> step(weights, data(a), model(b));
  std::vector<float> x(42);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i % 7) - 0.2f;
  auto const r = step(mt::feed<"x">(x), mt::feed<"limit">(std::vector{limit}));
  auto const last = r.template get<"last">().gather();
  auto const gradient = r.template get<"gradient">().gather();
  return {{last.begin(), last.end()},
          {gradient.begin(), gradient.end()},
          r.template get<"loss">(),
          r.template get<"ran">(),
          step.memory().planned};
}

/// Results are equal to the bit; sums over iterations are made in parts.
void check_same(outcome const& got, outcome const& wanted) {
  CHECK(got.ran == wanted.ran);
  CHECK(got.loss == wanted.loss);
  CHECK(got.last == wanted.last);
  float most = 0, off = 0;
  for (std::size_t i = 0; i < wanted.gradient.size(); ++i) {
    most = std::max(most, std::abs(wanted.gradient[i]));
    off = std::max(off, std::abs(got.gradient[i] - wanted.gradient[i]));
  }
  CHECK(off <= 3e-6f * most);
}
}  // namespace

TEST_CASE("a while_loop that is recomputed gives the same, however many iterations it runs") {
  for (auto const& [a, b] : {std::pair(1, 1), {2, 1}, {3, 2}})
    for (float const limit : {0.0f, 3.0f, 60.0f, 400.0f, 1e30f}) {
      CAPTURE(a * 10 + b);
      CAPTURE(limit);
      outcome const wanted = run<saving::grown>(a, b, limit), five = run<by_five::grown>(a, b, limit);
      CHECK(wanted.ran == (limit == 0 ? 0 : limit == 1e30f ? 20 : wanted.ran));
      check_same(five, wanted);
      CHECK(five.bytes < wanted.bytes);
      check_same(run<one_by_one::grown>(a, b, limit), wanted);
      check_same(run<all_at_once::grown>(a, b, limit), wanted);
      check_same(run<by_five::twice>(a, b, limit), run<saving::twice>(a, b, limit));
    }
}

TEST_CASE("layers that are recomputed run their inner loops again") {
  for (auto const& [a, b] : {std::pair(1, 1), {2, 2}}) {
    outcome const wanted = run<layers_of_scans<false>>(a, b), again = run<layers_of_scans<true>>(a, b);
    check_same(again, wanted);
    CHECK(again.bytes < wanted.bytes * 6 / 10);
    check_same(run<layers_of_scans<true, true>>(a, b), run<layers_of_scans<false, true>>(a, b));
  }
}
