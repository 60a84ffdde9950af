// SPDX-License-Identifier: Apache-2.0
// A network that reads handwritten digits: its dims, its training step and its evaluation.
#pragma once

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace digits {
using namespace mt::nn;

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct rows : mt::dim<"rows", 28> {} rows;
inline constexpr struct cols : mt::dim<"cols", 28> {} cols;
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct cols_2 : mt::dim<"cols_2", mt::divided(cols, 2)> {} cols_2;
inline constexpr struct rows_4 : mt::dim<"rows_4", mt::divided(rows_2, 2)> {} rows_4;
inline constexpr struct cols_4 : mt::dim<"cols_4", mt::divided(cols_2, 2)> {} cols_4;
inline constexpr struct k_rows : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct colours : mt::dim<"colours", 3> {} colours;
inline constexpr struct edges : mt::dim<"edges", 16> {} edges;
inline constexpr struct strokes : mt::dim<"strokes", 32> {} strokes;
inline constexpr struct shapes : mt::dim<"shapes", 64> {} shapes;
inline constexpr struct digit : mt::dim<"digit", 10> {} digit;

inline constexpr mt::layer convolved = [](mt::scope auto s, auto statistics, auto x, auto from, auto to,
                                          auto... along) {
  return relu(batch_norm(s / "norm", convolution(s / "conv", x, from, to, along..., no_bias), to, statistics));
};

// Three convolutions, two of which halve the resolution. The norms use the `statistics` of the batch, or the running
// ones.
inline constexpr mt::layer network = [](mt::scope auto s, auto x, auto statistics) {
  constexpr mt::window_options each{.padding = mt::centred_padding};
  constexpr mt::window_options every_second{.stride = 2, .padding = mt::centred_padding};
  auto e = convolved(s / "edges", statistics, x, colours, edges, mt::window(rows, rows, k_rows, each),
                     mt::window(cols, cols, k_cols, each));
  auto f = convolved(s / "strokes", statistics, e, edges, strokes, mt::window(rows, rows_2, k_rows, every_second),
                     mt::window(cols, cols_2, k_cols, every_second));
  auto g = convolved(s / "shapes", statistics, f, strokes, shapes, mt::window(rows_2, rows_4, k_rows, every_second),
                     mt::window(cols_2, cols_4, k_cols, every_second));
  auto weight = s.parameter("last", rows_4, cols_4, shapes, digit, mt::normal(0.02));
  return einsum(g, weight, mt::to(batch, digit)) + s.parameter("bias", digit, mt::zeros);
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto image = s.input("image", mt::f32, batch, rows, cols, colours);
    auto logits = network(s / "network", image, batch_statistics::of_batch);
    auto loss = mean(cross_entropy(logits, s.input("label", mt::i32, batch), digit));
    mt::adam{.learning_rate = s.number("rate", 0.002)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto image = s.input("image", mt::f32, batch, rows, cols, colours);
    auto guess = argmax(network(s / "network", image, batch_statistics::running), digit);
    auto is_right = mt::cast<mt::f32>(guess == mt::cast<mt::i64>(s.input("label", mt::i32, batch)));
    s.output("right", sum(is_right * s.input("counts", mt::f32, batch)));
  }
};
}  // namespace digits
