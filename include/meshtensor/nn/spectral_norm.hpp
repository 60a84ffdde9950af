// SPDX-License-Identifier: Apache-2.0
// Spectral norm: divides a weight by its largest singular value, which is estimated by power iteration.
#pragma once

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/nn/channels.hpp"
#include "meshtensor/nn/scaled_squares.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor::nn {

namespace detail {

/// A vector in the direction of `x`, of length 1. If `x` is zeros, it has no direction, so the result is `before`.
template <handle H>
constexpr H unit(H const& x, H const& before) {
  auto const length = length_of(x, [](auto const& y) { return sum(y); });
  auto const is_zero = length == 0;
  return select(is_zero, before, x / select(is_zero, 1, length));
}

struct spectral_norm_body {
  static constexpr meshtensor::detail::literal usage{
      "T18 spectral_norm takes a scope, a weight and its dim of outputs, then perhaps a number of iterations, not a "
      "scope and"};
  template <handle W, channels R, class... Iterations>
  static consteval auto finding() {
    return []<class... D>(dims<D...>) {
      if constexpr ((has_dim<W, D> && ...)) return no_error{};
      else return meshtensor::detail::refusal<"T01 spectral_norm: the weight lacks the dim", W, D...>{};
    }(decltype(channels_of(std::declval<R>())){});
  }
  template <scope S, handle W, channels R>
  constexpr auto operator()(S const& s, W const& weight, R rows, int iterations = 1) const {
    return divided(s, weight, channels_of(rows), iterations);
  }

 private:
  template <scope S, handle W, class... R>
  static constexpr auto divided(S const& s, W const& weight, dims<R...> rows, int iterations) {
    meshtensor::detail::owner_of(weight)->expect(iterations >= 0, "T50 spectral_norm: iterations are 0 or more");
    return by_vectors(s, weight, rows, ruled_t<without, typename W::dim_list, dims<R...>>{}, iterations);
  }
  template <scope S, handle W, class... R, class... C>
  static constexpr W by_vectors(S const& s, W const& weight, dims<R...>, dims<C...>, int iterations) {
    constexpr dtype inner = accumulator_of(W::type);
    auto const left = s.state("left", dtype_constant<inner>{}, R{}..., normal(1));
    auto const right = s.state("right", dtype_constant<inner>{}, C{}..., normal(1));
    auto const matrix = cast<inner>(weight), fixed = stop_gradient(matrix);
    auto u = s.next(left);  // a weight that is used twice in a step makes two iterations
    auto v = s.next(right);
    for (int i = 0; i < iterations; ++i) {
      u = unit(einsum(fixed, v, to(R{}...)), u);
      v = unit(einsum(fixed, u, to(C{}...)), v);
    }
    if (iterations > 0) s.amend(left, u), s.amend(right, v);
    auto const largest = einsum(u, matrix, v, to());
    return cast<W::type>(matrix / select(largest == 0, 1, largest));
  }
};

}  // namespace detail

/// A weight divided by an estimate of its largest singular value, as a matrix of `rows` and of all its other dims:
/// `conv(x, spectral_norm(s / "norm", kernel, c_out), …)`. Each step makes one power iteration, or as many as a last
/// argument says. For an evaluation, pass 0, so that it takes the vectors of the last step of training. A weight of
/// zeros is divided by 1 and keeps the vectors, so that later steps can follow it when it is trained.
///
/// states  left [rows] and right [the other dims]: the estimated singular vectors, at first random. f32 for bf16
/// dims    those of `weight`
/// grad    by the weight, with the vectors as constants
/// errors  T01 `weight` lacks the dim
/// source  Miyato et al., arXiv:1802.05957
inline constexpr library_layer spectral_norm = detail::spectral_norm_body{};

}  // namespace meshtensor::nn
