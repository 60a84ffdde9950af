// SPDX-License-Identifier: Apache-2.0
// Programs that permute rows by sources that differ from step to step, with gradients and partial sums.
#pragma once

#include "meshtensor/meshtensor.hpp"

namespace permute_programs {

namespace mt = meshtensor;
using mt::to;

/// `Rows` workers, whose rows come from each other. Sources are from an input, and from the step.
template <int Rows>
struct permuted {
  static inline constexpr struct worker_dim : mt::dim<"worker", Rows> {
  } worker{};
  static inline constexpr struct inner_dim : mt::dim<"inner", 4> {
  } inner{};
  static inline constexpr struct width_dim : mt::dim<"width", 3> {
  } width{};

  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), worker, inner);
    auto const sources = s.input("sources", mt::i32, worker);
    auto const w = s.parameter("w", inner, width, mt::normal(0.5));
    auto const rows = einsum(x, w, to(width, worker));  // a partial sum where `inner` is sharded
    auto const by_input = permute(rows, worker, sources);
    auto const next = (iota(s, worker, mt::i32) + full(s, s.step() + 1, mt::i32)) % Rows;
    auto const by_step = permute(x * 2, worker, next);
    auto const loss = sum(tanh(by_input) + 0.5 * rows) + mean(by_step * x);
    s.output("by_input", by_input);
    s.output("by_step", by_step);
    s.output("loss", loss);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = 0.5}.minimize(s / "optimizer", loss);
  }
};

/// Sources of which two rows name one, one names none, and the others are in no order.
inline void give_sources(mt::block& sources) {
  std::int64_t const n = sources.size();
  for (std::int64_t i = 0; i < n; ++i) sources.set(i, static_cast<double>((i * 5 + 3) % n));
  sources.set(0, -1);
  if (n > 3) sources.set(n - 1, static_cast<double>((1 * 5 + 3) % n)), sources.set(2, static_cast<double>(n));
}

}  // namespace permute_programs
