// SPDX-License-Identifier: Apache-2.0
// Layers with parameters: values, and gradients against finite differences and against plain operations.
#include "unit/nn/network.hpp"

#include "meshtensor/nn/linear.hpp"
#include "meshtensor/nn/norm.hpp"
#include "meshtensor/op/control.hpp"

using namespace small_network;
using mt::to;

namespace {

auto const layer_normed = [](auto s, auto x, auto) { return mt::nn::layer_norm(s / "norm", x, model); };
inline constexpr mt::layer plain_layer_norm = [](mt::scope auto s, auto x) {
  auto const gain = s.parameter("gain", model, mt::ones);
  auto const bias = s.parameter("bias", model, mt::zeros);
  auto const centred = x - mean(x, model);
  return centred / sqrt(mean(centred * centred, model) + 1e-5) * gain + bias;
};

auto const rms_normed = [](auto s, auto x, auto) { return mt::nn::rms_norm(s / "norm", x, model); };
inline constexpr mt::layer plain_rms_norm = [](mt::scope auto s, auto x) {
  auto const gain = s.parameter("gain", model, mt::ones);
  return x / sqrt(mean(x * x, model) + 1e-5) * gain;
};

auto const mapped = [](auto s, auto x, auto) { return mt::nn::linear(s / "linear", x, model, hidden); };
inline constexpr mt::layer plain_linear = [](mt::scope auto s, auto x) {
  auto const weight = s.parameter("weight", model, hidden);  // starts as the layer's own: 1/√model
  auto const bias = s.parameter("bias", hidden);
  return einsum(x, weight, to(batch, length, hidden)) + bias;
};

/// Both norms and their gradients, in the dtype of the program.
struct norms_of_x {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, model);
    auto const normed = mt::nn::layer_norm(s / "layer", x, model);
    auto const scaled = mt::nn::rms_norm(s / "rms", x, model);
    auto const weights = s.input("weights", s.real(), batch, model);
    s.output("layer", normed), s.output("d layer", gradient(sum(normed * weights), x));
    s.output("rms", scaled), s.output("d rms", gradient(sum(scaled * weights), x));
  }
};

}  // namespace

TEST_CASE("linear") {
  check_gradients("linear", mapped);
  check_same("linear", mapped, [](auto s, auto x, auto) { return plain_linear(s / "linear", x); });
  check_gradients("linear in the middle of the dims", [](auto s, auto x, auto) {
    auto const y = mt::nn::linear(s / "linear", x, length, hidden);
    static_assert(
        std::is_same_v<std::remove_cvref_t<decltype(y)>, mt::tensor<mt::f64, batch_dim, hidden_dim, model_dim>>);
    return y;
  });
}

TEST_CASE("feed_forward") {
  check_gradients("feed_forward",
                  [](auto s, auto x, auto) { return mt::nn::feed_forward(s / "part", x, model, hidden); });
}

TEST_CASE("embed") {
  check_gradients("embed",
                  [](auto s, auto x, auto chosen) { return mt::nn::embed(s / "table", chosen, classes, model) * x; });
}

TEST_CASE("layer_norm") {
  check_gradients("layer_norm", layer_normed);
  check_same("layer_norm", layer_normed, [](auto s, auto x, auto) { return plain_layer_norm(s / "norm", x); });
}

TEST_CASE("layer_norm and rms_norm of bf16 are those of f64, rounded once") {
  auto const results = []<mt::dtype T>(mt::dtype_constant<T>) {
    trial::program p = trial::program::of<mt::precision<norms_of_x, T>>();
    p.fill("x", {256, 256, 256, 258, 3, -5, 40, 41.5});
    p.fill("weights", {1, 2, -3, 0.5, 1, 7, 2, -1});
    return p.run();
  };
  mt::blocks const found = results(mt::bf16), wanted = results(mt::f64);
  for (auto const& [label, all] : wanted) {
    CAPTURE(label);
    for (std::int64_t i = 0; i < all.size(); ++i) {
      double const x = all.number_at(i), half_a_unit = 0x1p-8 * std::abs(x);
      CHECK(std::abs(found.at(label).number_at(i) - x) <= half_a_unit + 1e-5);
    }
  }
}

TEST_CASE("rms_norm") {
  check_gradients("rms_norm", rms_normed);
  check_same("rms_norm", rms_normed, [](auto s, auto x, auto) { return plain_rms_norm(s / "norm", x); });
}

TEST_CASE("layers inside repeat have parameters for every iteration") {
  auto const deep = [](auto s, auto x, auto) {
    return repeat(s / "deep", heads, x, [](mt::scope auto r, auto y) {
      return y + mt::nn::feed_forward(r / "part", mt::nn::layer_norm(r / "norm", y, model), model, hidden);
    });
  };
  check_gradients("repeated", deep);
  trial::program p = of(deep);
  p.run();
  CHECK(p.variables.at("deep/part/up/weight").size() == 2 * 4 * 5);
}
