// SPDX-License-Identifier: Apache-2.0
// The program that docs/design/architecture follows: two residual layers, a loss and one step of gradient descent.
#pragma once

#include "meshtensor/meshtensor.hpp"

namespace chapters {
namespace mt = meshtensor;
using mt::to;

inline constexpr struct batch : mt::dim<"batch", 8> {} batch;
inline constexpr struct width : mt::dim<"width", 4> {} width;
inline constexpr struct hidden : mt::dim<"hidden", 6> {} hidden;
inline constexpr struct layers : mt::dim<"layers", 2> {} layers;
inline constexpr struct data : mt::axis<"data", 2> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, width);
    auto y = mt::repeat(s / "layers", layers, x, [](mt::scope auto r, auto z) {
      auto h = silu(einsum(z, r.parameter("up", width, hidden), to(batch, hidden)));
      return z + einsum(h, r.parameter("down", hidden, width), to(batch, width));
    });
    auto error = y - s.input("target", mt::f32, batch, width);
    auto loss = mean(error * error);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<hidden, model>> {};

}  // namespace chapters
