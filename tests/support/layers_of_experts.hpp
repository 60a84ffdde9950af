// SPDX-License-Identifier: Apache-2.0
// Two layers of experts that serve all that choose them: tokens and experts lie over the same processors, so that in
// each layer, forwards and backwards, rows go to the holders of their experts and come back.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace layers_of_experts {

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 12> {} batch;
inline constexpr struct length : mt::dim<"length", 5> {} length;
inline constexpr struct d_model : mt::dim<"d_model", 6> {} d_model;
inline constexpr struct d_ff : mt::dim<"d_ff", 4> {} d_ff;
inline constexpr struct experts : mt::dim<"experts", 6> {} experts;
inline constexpr struct choices : mt::dim<"choices", 2> {} choices;
inline constexpr struct layers : mt::dim<"layers", 2> {} layers;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<experts, data>, mt::in<"router", mt::replicate<experts>>> {
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, length, d_model);
    auto const y = repeat(s / "layers", layers, x, [](mt::scope auto r, auto h) {
      auto const normed = mt::nn::layer_norm(r / "norm", h, d_model);
      return h + std::get<0>(mt::nn::dropless_mixture_of_experts(r / "experts", normed, length, d_model, experts,
                                                                 choices, d_ff));
    });
    auto const loss = mean((y - 1) * (y - 1));
    mt::adam{.learning_rate = 0.02}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("y", y);
  }
};
template <class Device>
using executable = mt::executable<mt::precision<train_step, mt::dtype::f64>, mesh, layout, Device>;

/// Whether rows go to the processors that hold their experts; else experts come to the rows, or all rows to all.
inline bool exchanges_rows(mt::module const& m) {
  return std::any_of(m.nodes, m.nodes + m.node_count,
                     [](mt::node const& n) { return n.kind == mt::primitive::move_rows; });
}

/// The loss of a step; where tokens go changes from step to step.
template <class Step>
double one_step(Step& step, int number) {
  std::vector<double> x(12 * 5 * 6);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin((0.7 + 0.1 * number) * static_cast<double>(i) + 0.3);
  return step(mt::feed<"x">(x)).template get<"loss">();
}

}  // namespace layers_of_experts
