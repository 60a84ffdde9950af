// SPDX-License-Identifier: Apache-2.0
// A two-layer network with dropout, trained by Adam and evaluated: two programs that share parameters.
#pragma once

#include <cmath>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace two_layers {
namespace mt = meshtensor;
using mt::to;

// `Batch` and the sizes of the axes are open in the dynamic form and numbers in the static one.
template <mt::extent_rule Batch, std::int64_t Data, std::int64_t Model>
struct network {
  static constexpr struct batch_t : mt::dim<"batch", Batch> {
  } batch{};
  static constexpr struct pixels_t : mt::dim<"pixels", 12> {
  } pixels{};
  static constexpr struct hidden_t : mt::dim<"hidden", 24> {
  } hidden{};
  static constexpr struct inner_t : mt::dim<"inner", 12> {
  } inner{};
  static constexpr struct layers_t : mt::dim<"layers", 2> {
  } layers{};
  static constexpr struct classes_t : mt::dim<"classes", 6> {
  } classes{};

  static constexpr mt::layer block = [](mt::scope auto s, auto x) {
    auto const h = tanh(mt::nn::linear(s / "up", mt::nn::layer_norm(s / "norm", x, hidden), hidden, inner));
    return x + mt::nn::linear(s / "down", mt::nn::dropout(s / "drop", h, s.number("dropout", 0.1)), inner, hidden);
  };
  static constexpr mt::layer loss_of = [](mt::scope auto s, auto image, auto label) {
    auto x = relu(mt::nn::linear(s / "first", image, pixels, hidden));
    x = mt::repeat(s / "blocks", layers, x, block);
    return mean(mt::nn::cross_entropy(mt::nn::linear(s / "last", x, hidden, classes), label, classes));
  };

  struct train_step {
    constexpr void operator()(mt::scope auto s) const {
      auto image = s.input("image", s.real(), batch, pixels);
      auto label = s.input("label", mt::i32, batch);
      auto loss = loss_of(s / "model", image, label);
      mt::adam{.learning_rate = s.number("learning_rate", 1e-2)}.minimize(s / "optimizer", loss);
      s.output("loss", loss);
    }
  };
  struct evaluate {
    constexpr void operator()(mt::scope auto s) const {
      auto image = s.input("image", s.real(), batch, pixels);
      auto label = s.input("label", mt::i32, batch);
      s.output("loss", loss_of(s / "model", image, label));
    }
  };

  static constexpr struct data_t : mt::axis<"data", Data> {
  } data{};
  static constexpr struct model_t : mt::axis<"model", Model> {
  } model{};
};

/// Images in six classes, each a noisy pattern of its own.
template <class T>
struct samples {
  std::vector<T> images;
  std::vector<std::int32_t> labels;
  explicit samples(int count) : images(static_cast<std::size_t>(count) * 12), labels(static_cast<std::size_t>(count)) {
    for (std::size_t i = 0; i < labels.size(); ++i) {
      labels[i] = static_cast<std::int32_t>(i * 7 % 6);
      for (std::size_t p = 0; p < 12; ++p)
        images[i * 12 + p] =
            static_cast<T>(std::sin(static_cast<double>((p + 1) * static_cast<std::size_t>(labels[i] + 1))) +
                           0.3 * std::cos(static_cast<double>(i * 31 + p * 17)));
    }
  }
};

}  // namespace two_layers
