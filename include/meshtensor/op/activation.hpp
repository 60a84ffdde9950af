// SPDX-License-Identifier: Apache-2.0
// Activations composed of elementwise operations.
#pragma once

#include "meshtensor/op/detail/composed.hpp"

namespace meshtensor {

/// x · Φ(x), where Φ is the normal distribution function: x/2 · (1 + erf(x / √2)). `gelu_tanh` is its approximation.
///
/// source  Hendrycks and Gimpel, arXiv:1606.08415
template <handle H>
constexpr H gelu(H const& x, line const& where = {}) {
  detail::composed const here(x.owner, where, "gelu");
  auto const half = x * 0.5;
  return half + half * erf(x * 0.70710678118654752440);
}

/// The tanh approximation of gelu that GPT-2 uses: x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))).
template <handle H>
constexpr H gelu_tanh(H const& x, line const& where = {}) {
  detail::composed const here(x.owner, where, "gelu_tanh");
  auto const half = x * 0.5;
  return half + half * tanh(0.79788456080286535588 * (x + 0.044715 * (x * x * x)));
}

/// x · sigmoid(x), also called swish.
///
/// source  Ramachandran et al., arXiv:1710.05941
template <handle H>
constexpr H silu(H const& x, line const& where = {}) {
  detail::composed const here(x.owner, where, "silu");
  return x * sigmoid(x);
}

/// x / (1 + |x|), between −1 and 1. It is nan at ±∞, as in PyTorch and JAX.
template <handle H>
constexpr H softsign(H const& x, line const& where = {}) {
  detail::composed const here(x.owner, where, "softsign");
  return x / (abs(x) + 1);
}

}  // namespace meshtensor
