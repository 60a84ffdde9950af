// SPDX-License-Identifier: Apache-2.0
// A recurrent cell in a loop whose number of steps is data, with its gradient, and what an iteration of a loop with
// next to nothing to compute costs (Yu et al. 2018 measure such loops). bench/peers/loops.py has the same.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "meshtensor/meshtensor.hpp"

#if MESHTENSOR_WITH_ONEDNN && MESHTENSOR_WITH_TBB
#  include "meshtensor/device/default.hpp"
#endif

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch", 64> {} batch;
inline constexpr struct hidden_dim : mt::dim<"hidden", 512> {} hidden;
inline constexpr struct next_dim : mt::dim<"next", 512> {} next;
inline constexpr struct time_dim : mt::dim<"time", 200> {} time_steps;

/// h ← tanh(h W + x_t) for as many steps as `count` says, and the gradient of the mean of h² by W.
struct recurrent {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, time_steps, batch, next);
    auto count = s.input("count", mt::i64);
    auto w = s.parameter("w", hidden, next);
    auto start = full(s, 0, mt::f32, to(batch, hidden));
    auto [ran, t, h] = while_loop(
        s / "cell", mt::at_most(200), [&](auto, auto i, auto) { return i < count; },
        [&](auto, auto i, auto state) {
          auto y = tanh(einsum(state, w, to(batch, next)) + gather(x, i, time_steps));
          return std::tuple(i + 1, rename(y, next, hidden));
        },
        full(s, 0, mt::i64, to()), start);
    auto loss = mean(h * h);
    s.output("loss", loss);
    s.output("ran", ran);
    s.output("gradient", sum(gradient(loss, w) * w));
  }
};

/// A counter.
struct empty {
  constexpr void operator()(mt::scope auto s) const {
    auto count = s.input("count", mt::f32);
    auto [ran, last] = while_loop(
        s / "count", mt::at_most(1'000'000), [&](auto, auto i) { return i < count; },
        [](auto, auto i) { return i + 1; }, full(s, 0, mt::f32, to()));
    s.output("last", last);
  }
};

/// Seconds of calls of `step`, sorted.
template <class Step>
std::vector<double> timed(int calls, Step const& step) {
  using clock = std::chrono::steady_clock;
  std::vector<double> took;
  for (int i = 0; i < calls; ++i) {
    auto const start = clock::now();
    step();
    took.push_back(std::chrono::duration<double>(clock::now() - start).count());
  }
  std::sort(took.begin(), took.end());
  return took;
}

}  // namespace

int main() {
  auto const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<recurrent, mt::mesh<>, mt::layout<>, mt::default_device> step(weights);
  std::vector<float> x(200 * 64 * 512);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i % 17) / 17 - 0.05f;
  double loss = 0;
  auto const run = [&] {
    loss = static_cast<double>(step(mt::feed<"x">(x), mt::feed<"count">(std::vector<std::int64_t>{200})).get<"loss">());
  };
  for (int i = 0; i < 2; ++i) run();
  auto const took = timed(7, run);
  double const median = took[took.size() / 2], flops = 3.0 * 2 * 200 * 64 * 512 * 512;
  mt::executable<empty, mt::mesh<>, mt::layout<>, mt::default_device> counting(weights);
  auto const count = [&] { counting(mt::feed<"count">(std::vector<float>{20000})); };
  count();
  auto const counted = timed(7, count);
  fmt::print("step {:.1f} ms (from {:.1f}), {:.1f} GFLOP/s, loss {:.6f}; an empty iteration {:.3f} us\n", median * 1e3,
             took[0] * 1e3, flops / median * 1e-9, loss, counted[counted.size() / 2] / 20000 * 1e6);
}
