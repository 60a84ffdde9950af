// SPDX-License-Identifier: Apache-2.0
// The router of a mixture of experts: its probabilities, the loss that balances experts, and errors of its operands.
#pragma once

#include "meshtensor/nn/linear.hpp"
#include "meshtensor/nn/loss.hpp"
#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/one_hot.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/softmax.hpp"

namespace meshtensor::nn::detail {

/// The router's probability of each expert for each token.
template <handle X, handle Gate, class Model, class Experts>
constexpr auto probability_of_experts(X const& x, Gate const& gate, Model, Experts along) {
  return softmax(meshtensor::detail::einsum_by<mapped_rule, dims<Model>, dims<Experts>>(summable(x), summable(gate)),
                 along);
}
/// The loss `balance` of `route`.
template <handle P, class Queue, class Experts>
constexpr auto balance_of(P const& probability, Queue queue, Experts experts) {
  auto const favourite = cast<P::type>(one_hot(argmax(probability, experts), experts, boolean));
  return mean(sum(mean(favourite, queue) * mean(probability, queue), experts)) * extent(experts);
}

/// The base of a layer whose tokens lie along `queue` and `model`: its error and the number of its results.
template <meshtensor::detail::literal Lacks, int Results>
struct layer_of_tokens {
  static constexpr int result_count = Results;
  template <handle X, dim_type Queue, dim_type Model, class... Args>
  static consteval auto finding() {
    if constexpr (has_dim<X, Queue> && has_dim<X, Model>) return no_error{};
    else return meshtensor::detail::refusal<Lacks, X, Queue, Model>{};
  }
};

}  // namespace meshtensor::nn::detail
