// SPDX-License-Identifier: Apache-2.0
// Losses: cross entropy for each position, and mean squared error.
#pragma once

#include <tuple>

#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/detail/row_sum.hpp"
#include "meshtensor/op/one_hot.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor::nn {

namespace detail {

/// Casts to the accumulator's type: a loss of bf16 becomes f32.
template <handle H>
constexpr auto summable(H const& x) {
  return cast<accumulator_of(H::type)>(x);
}

/// x · weight, and 0 if the weight is 0, even for an infinite x.
template <handle H>
constexpr H weighted(H const& x, number const& weight) {
  auto const factor = meshtensor::detail::as_tensor<H::type>(*x.owner, weight);
  return select(factor == 0, 0, x * factor);
}

/// The first error in the operands of a cross entropy.
template <handle L, handle T, dim_type V>
consteval auto cross_entropy_finding() {
  using meshtensor::detail::refusal;
  if constexpr (!has_dim<L, V>) return refusal<"T01 cross_entropy: the logits lack the dim of the classes", L, V>{};
  else if constexpr (!of_float<L>) return refusal<"T04 this function takes tensors of floats: cast the operand", L>{};
  else if constexpr (!of_integer<T>) return refusal<"T02 cross_entropy: the targets are not integers", T>{};
  else if constexpr (!meshtensor::detail::lacks_dim<T, V>)
    return refusal<"T03 cross_entropy: the targets have the dim of the classes", T, V>{};
  else return no_error{};
}
/// The first error in the operands of a mean squared error.
template <handle P, handle T>
consteval auto error_finding() {
  using meshtensor::detail::refusal;
  if constexpr (!meshtensor::detail::may_have_same_dims<P, T>)
    return refusal<
        "T03 mean_squared_error: the prediction and the target have other dims: sum or slice one of them, or broadcast "
        "the other",
        P, T>{};
  else if constexpr (accumulator_of(P::type) != accumulator_of(T::type))
    return refusal<"T02 the dtypes of the operands differ: cast one of them", P, T>{};
  else if constexpr (!of_float<P>) return refusal<"T04 mean takes a tensor of floats: cast the operand", P>{};
  else return no_error{};
}

}  // namespace detail

/// −log softmax(logits)[target] for each position: `mean(cross_entropy(logits, next, vocab))`. A target out of range
/// counts as a logit of zero weight, so its loss is log Σ exp(logits − max). With `smoothing` ε, this share of the
/// weight is spread evenly over all classes. The loss is then (1 − ε) of the above, plus ε of the mean of −log
/// softmax(logits).
///
/// A logit of -inf masks its class. The loss is inf if the target's logit is -inf, and with smoothing if any logit is
/// -inf, as in PyTorch. Its gradient is finite. If all logits are -inf, the loss and its gradient are zero.
///
/// dims    those of the logits without `vocab`, then other dims of the targets
/// dtype   f32 for bf16, and computed in f32; otherwise that of the logits
/// layout  if `vocab` is sharded over an axis, a max and two sums (three with `smoothing`), which lack `vocab`, are
///         reduced over that axis; logits are never gathered
/// grad    (softmax(logits) − (1 − ε) · one_hot(target) − ε / vocab) · dy, without another reduction
/// errors  T01 the logits lack `vocab`; T02 the targets are not integers; T03 the targets have `vocab`
/// source  Szegedy et al., arXiv:1512.00567, section 7
template <handle L, handle T, dim_type V>
constexpr auto cross_entropy(L const& logits, T const& targets, V vocab, number const& smoothing = {},
                             checked_line<decltype(detail::cross_entropy_finding<L, T, V>())> const& where = {}) {
  if constexpr (nothing_found<decltype(detail::cross_entropy_finding<L, T, V>())>) {
    meshtensor::detail::composed const here(meshtensor::detail::owner_of(logits, targets), where);
    auto const hit = [=](T const& target) { return one_hot(target, vocab, boolean); };
    bool const smooth = smoothing.count != 0;
    auto const results = composite_with_gradient(
        "cross_entropy",
        [=](L const& x, T const& target) {
          auto const scores = detail::summable(x);
          auto const greatest = meshtensor::detail::kept_finite(max(scores, vocab));
          auto const shifted = scores - greatest;
          auto const total = sum(exp(shifted), vocab);
          auto const picked = sum(select(hit(target), shifted, 0), vocab);
          auto const wanted =
              smooth ? detail::weighted(picked, 1 - smoothing) + detail::weighted(mean(shifted, vocab), smoothing)
                     : picked;
          auto const log_total = log(meshtensor::detail::as_divisor(total));
          auto const none = total == 0;
          return std::tuple(select(none, 0, log_total - wanted),
                            select(none, log(stop_gradient(total)), log_total + greatest));
        },
        [=](L const& x, T const& target, auto lost, auto log_sum, auto dy) {
          auto const likely = exp(detail::summable(x) - meshtensor::detail::kept_finite(log_sum));
          auto const wanted = cast<decltype(lost)::type>(hit(target));
          auto const dx = (smooth ? likely - (wanted * (1 - smoothing) + smoothing / extent(vocab)) : likely - wanted) *
                          select(log_sum < meshtensor::detail::least_finite_like<decltype(lost)>, 0, dy);
          return std::tuple(meshtensor::detail::summed_like(cast<L::type>(dx), x),
                            target);  // integers have no gradient
        },
        logits, targets);
    return std::get<0>(results);
  } else {
    return meshtensor::detail::given_up<accumulator_of(L::type), typename L::dim_list>(logits);
  }
}
/// Refuses a call without the dim of the classes, or with a number or a position in its place.
template <handle L, meshtensor::detail::argument A = meshtensor::detail::none_given,
          meshtensor::detail::argument B = meshtensor::detail::none_given,
          meshtensor::detail::argument C = meshtensor::detail::none_given>
requires(!handle<A> || !dim_type<B>)
constexpr auto cross_entropy(
    L const& logits, A const& = {}, B const& = {}, C const& = {},
    meshtensor::detail::refused_call_with<meshtensor::detail::code_if<handle<A>, "T25", "T37">,
                                          "cross_entropy takes logits, the integers that they should predict, and the "
                                          "dim of the classes: cross_entropy(scores, token, vocab)",
                                          L, A, B, C> const& = {}) {
  return meshtensor::detail::given_up(logits);
}

/// The mean, over all elements, of the squared differences.
///
/// dtype   f32 for bf16, and computed in f32
/// errors  T02 the dtypes differ; T03 the dims differ
template <handle P, handle T>
constexpr auto mean_squared_error(P const& prediction, T const& target,
                                  checked_line<decltype(detail::error_finding<P, T>())> const& where = {}) {
  if constexpr (nothing_found<decltype(detail::error_finding<P, T>())>) {
    meshtensor::detail::composed const here(meshtensor::detail::owner_of(prediction, target), where,
                                            "mean_squared_error");
    auto const difference = detail::summable(prediction) - detail::summable(target);
    return mean(difference * difference);
  } else {
    return meshtensor::detail::given_up<accumulator_of(P::type), dims<>>(prediction);
  }
}

}  // namespace meshtensor::nn
