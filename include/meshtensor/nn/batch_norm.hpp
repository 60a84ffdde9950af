// SPDX-License-Identifier: Apache-2.0
// Batch norm: standardizes each channel over a batch, also over a sharded one, and keeps running averages.
#pragma once

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/nn/channels.hpp"
#include "meshtensor/nn/norm.hpp"
#include "meshtensor/nn/standardize.hpp"
#include "meshtensor/nn/standardize_across.hpp"

namespace meshtensor::nn {

/// The source of the mean and the variance of a batch norm.
enum class batch_statistics : std::uint8_t {
  of_batch,  // for training: those of the batch, which also update the running averages
  running,   // for evaluation: the running averages, which do not change
  frozen,    // as `running`, and gain and bias are not trained either
};

/// The options of `batch_norm`.
struct batch_norm_options {
  batch_statistics statistics = batch_statistics::of_batch;
  /// The share of a batch in the running averages: PyTorch's momentum.
  number momentum = 0.1;
  /// May be 0. A channel whose variance is 0 then gives its bias, and its gradient is zero.
  number epsilon = norm_epsilon;
  /// The initial gains. With zeros in its last norm, a residual block begins as the identity.
  initializer gain = ones;
};

namespace detail {

template <handle X, class... C>
struct batch_norm_along {
  using rest = ruled_t<without, typename X::dim_list, dims<C...>>;
  static constexpr dtype inner = accumulator_of(X::type);

  template <scope S, class... Across>
  static constexpr X apply(S const& s, X const& x, batch_norm_options const& how, Across... across) {
    bool const trains = how.statistics != batch_statistics::frozen;
    auto const trained = [&](auto const& p) { return trains ? p : stop_gradient(p); };
    auto const gain = trained(s.parameter("gain", C{}..., how.gain));
    auto const bias = trained(s.parameter("bias", C{}..., zeros));
    auto const kept_mean = s.state("mean", dtype_constant<inner>{}, C{}..., zeros);
    auto const kept_variance = s.state("variance", dtype_constant<inner>{}, C{}..., ones);
    if (how.statistics != batch_statistics::of_batch) {
      auto const factor = cast<inner>(gain) * rsqrt_or_zero(kept_variance + how.epsilon, may_be(how.epsilon, 0));
      auto const offset = cast<inner>(bias) - kept_mean * factor;
      return cast<X::type>(cast<inner>(x) * factor + offset);
    }
    builder& b = s.graph_builder();
    bool const is_alone = !(is_open(b, across) || ...);
    if (is_alone && b.regime != nullptr) b.regime->normalizes_alone(b, kept_mean.id);
    auto const [y, centre, scale, variance] = standardized_across<true>(x, gain, bias, rest{}, how.epsilon, across...);
    number const count = elements_across(b, rest{}, across...);
    auto const unbiased = variance * (count / maximum(count - 1, 1));
    // A network that is called twice in a step updates the averages twice.
    s.amend(kept_mean, s.next(kept_mean) * (1 - how.momentum) + centre * how.momentum);
    s.amend(kept_variance, s.next(kept_variance) * (1 - how.momentum) + unbiased * how.momentum);
    return y;
  }
};

struct batch_norm_body {
  static constexpr meshtensor::detail::literal usage{
      "T18 batch_norm takes a scope, x and its channels, then perhaps statistics or options, not a scope and"};
  template <handle X, channels C, class... How>
  static consteval auto finding() {
    using meshtensor::detail::refusal;
    return []<class... D>(dims<D...>) {
      if constexpr (!of_float<X>) return refusal<"T04 batch_norm takes a tensor of floats: cast the operand", X>{};
      else if constexpr (!(has_dim<X, D> && ...))
        return refusal<"T01 batch_norm: the operand lacks the dim", X, D...>{};
      else return no_error{};
    }(decltype(channels_of(std::declval<C>())){});
  }
  template <scope S, handle X, channels C>
  constexpr auto operator()(S const& s, X const& x, C along, batch_norm_options const& how = {}) const {
    return normalized(s, x, channels_of(along), how);
  }
  template <scope S, handle X, channels C>
  constexpr auto operator()(S const& s, X const& x, C along, batch_statistics from) const {
    return normalized(s, x, channels_of(along), {.statistics = from});
  }
  template <scope S, handle X, channels C, dim_type D>
  constexpr auto operator()(S const& s, X const& x, C along, all_indices<D> across) const {
    return normalized(s, x, channels_of(along), {}, across);
  }
  template <scope S, handle X, channels C, dim_type D>
  constexpr auto operator()(S const& s, X const& x, C along, batch_norm_options const& how,
                            all_indices<D> across) const {
    return normalized(s, x, channels_of(along), how, across);
  }
  template <scope S, handle X, channels C, dim_type D>
  constexpr auto operator()(S const& s, X const& x, C along, batch_statistics from, all_indices<D> across) const {
    return normalized(s, x, channels_of(along), {.statistics = from}, across);
  }

 private:
  template <scope S, handle X, class... C, class... Across>
  static constexpr auto normalized(S const& s, X const& x, dims<C...>, batch_norm_options const& how,
                                   Across... across) {
    return batch_norm_along<X, C...>::apply(s, x, how, across...);
  }
};

}  // namespace detail

/// (x − mean) / √(variance + 1e-5), scaled and shifted, with the mean and the variance of each channel over all other
/// dims: `batch_norm(s / "norm", x, channels)`. A sharded batch has one mean, over all its parts. Channels may be
/// several dims, for example `to(group, channel)`.
///
/// A program that evaluates has the fourth argument `batch_statistics::running`. It uses the running averages, so each
/// example gives the same result in any batch. With `frozen`, gain and bias are not trained either. Another momentum is
/// an option: `batch_norm(s / "norm", x, channels, batch_norm_options{.momentum = 0.01})`.
///
/// In replicas, the batch is that of one replica. With `mt::across(replica)` as the last argument, it is the batch of
/// all replicas together, so synchronous replicas train like one model. For the gradient of such a norm, the compiler
/// differentiates its operations one by one.
///
/// parameters  gain [channels], `.gain`, ones; bias [channels], zeros
/// states      mean [channels], zeros; variance [channels], ones: running averages, f32 for bf16. A step replaces each
///             by momentum · the batch's + (1 − momentum) · itself. For this, the batch's variance is that of a sample:
///             times n / (n − 1)
/// dims        those of `x`
/// dtype       statistics are f32 for bf16, and sums of f32 are made in f64
/// layout      if a dim other than the channels is sharded over an axis, two sums with the dims of the channels are
///             reduced together over that axis, and two more for the gradient. With `mt::across`, sums of all
///             replicas are reduced, too
/// errors      T01 `x` lacks a dim; T04 `x` is not of floats
/// source      Ioffe and Szegedy, arXiv:1502.03167
inline constexpr library_layer batch_norm = detail::batch_norm_body{};

}  // namespace meshtensor::nn
