// SPDX-License-Identifier: Apache-2.0
// The laws of operations hold for layers and losses too.
#include "unit/op/laws.hpp"

#include "meshtensor/nn/attention.hpp"
#include "meshtensor/nn/linear.hpp"
#include "meshtensor/nn/loss.hpp"
#include "meshtensor/nn/norm.hpp"

using namespace laws;

namespace {
inline constexpr struct d_dim : mt::dim<"d", 3> {} d;
inline constexpr struct memory_dim : mt::dim<"memory", 4> {} memory;
}  // namespace

TEST_CASE("layers") {
  hold_for_one("linear", [](auto s, auto x, auto, auto...) { return mt::nn::linear(s / "part", x, b, d); });
  hold_for_one("feed_forward", [](auto s, auto x, auto, auto...) { return mt::nn::feed_forward(s / "part", x, b, d); });
  hold_for_one("layer_norm", [](auto s, auto x, auto, auto...) { return mt::nn::layer_norm(s / "part", 3 * x, b); });
  hold_for_one("rms_norm", [](auto s, auto x, auto, auto...) { return mt::nn::rms_norm(s / "part", 3 * x, b); });
  hold_for_one("embed",
               [](auto s, auto x, auto, auto...) { return x * mt::nn::embed(s / "part", argmax(x, b), d, c); });
}

TEST_CASE("attention of x to y, in which b is what is compared") {
  hold("attention", [](auto, auto x, auto y, auto...) {
    auto const keys = rename(3 * y, c, memory);
    return mt::nn::dot_product_attention(3 * x, keys, keys, a, memory, b);
  });
  hold("causal attention", [](auto, auto x, auto y, auto...) {
    auto const keys = rename(3 * y, c, memory);
    return mt::nn::causal_dot_product_attention(3 * x, keys, keys, a, memory, b);
  });
}

TEST_CASE("losses") {
  hold("cross_entropy",
       [](auto, auto x, auto y, auto...) { return mt::nn::cross_entropy(4 * x, argmax(y, c) % 2, a); });
}
