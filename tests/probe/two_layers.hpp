// SPDX-License-Identifier: Apache-2.0
// The training step of a network of two layers: what the probes are tried on.
#pragma once

#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/lower.hpp"

namespace two_layers {
namespace mt = meshtensor;

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct pixels_dim : mt::dim<"pixels", 12> {} pixels;
inline constexpr struct hidden_dim : mt::dim<"hidden", 16> {} hidden;
inline constexpr struct classes_dim : mt::dim<"classes", 6> {} classes;

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto image = s.input("image", mt::f32, batch, pixels);
    auto label = s.input("label", mt::i32, batch);
    auto h = tanh(mt::nn::linear(s / "first", image, pixels, hidden));
    auto loss = mean(mt::nn::cross_entropy(mt::nn::linear(s / "last", h, hidden, classes), label, classes));
    mt::adam{.learning_rate = s.number("learning_rate", 1e-2)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

inline constexpr struct data_axis : mt::axis<"data"> {} data;
inline constexpr struct model_axis : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct whole : mt::layout<> {};
struct spread : mt::layout<mt::shard<batch, data>, mt::shard<hidden, model>> {};

}  // namespace two_layers
