// SPDX-License-Identifier: Apache-2.0
// Finds the errors in the operands of attention.
#pragma once

#include <type_traits>

#include "meshtensor/op/composite.hpp"

namespace meshtensor::nn::detail {

/// An error if queries and keys count their positions by the same dim, or if the mask does not fit.
template <class Length, class Memory, class... Visible>
consteval auto positions_finding() {
  using meshtensor::detail::refusal;
  if constexpr (std::is_same_v<Length, Memory>)
    return refusal<
        "T40 attention takes two dims of positions, of the queries and of the keys: declare a second one of the same "
        "extent, mt::dim<\"memory\", length + 0>",
        Length, Memory>{};
  else if constexpr (!((of_bool<Visible> && has_dim<Visible, Memory>) && ...))
    return refusal<"T01 attention: the mask must be a bool tensor with the dim of the key positions", Visible...,
                   Memory>{};
  else return no_error{};
}

/// Whether the scores of queries and keys have all dims of a mask. A mask whose dims only the trace knows may have any.
template <class Q, class K>
consteval bool scores_have(any_dims const*) {
  return true;
}
template <class Q, class K, dim_type... D>
consteval bool scores_have(dims<D...> const*) {
  return ((has_dim<Q, D> || has_dim<K, D>) && ...);
}
template <class Q, class K, class Visible>
inline constexpr bool scores_have_dims_of = scores_have<Q, K>(static_cast<typename Visible::dim_list const*>(nullptr));

/// The first error in the operands of attention.
template <handle Q, handle K, handle V, dim_type Length, dim_type Memory, dim_type Head, handle... Visible>
consteval auto attention_finding() {
  using meshtensor::detail::refusal;
  if constexpr (std::is_same_v<Length, Memory>) return positions_finding<Length, Memory>();
  else if constexpr (!(has_dim<Q, Length> && has_dim<Q, Head>))
    return refusal<"T01 attention: the queries lack a dim", Q, Length, Head>{};
  else if constexpr (!(has_dim<K, Memory> && has_dim<K, Head>))
    return refusal<"T01 attention: the keys lack a dim", K, Memory, Head>{};
  else if constexpr (!has_dim<V, Memory>)
    return refusal<"T01 attention: the values lack the dim of the key positions", V, Memory>{};
  else if constexpr (!(same_dtype_as<Q, K> && same_dtype_as<Q, V>))
    return refusal<"T02 the dtypes of the operands differ: cast one of them", Q, K, V>{};
  else if constexpr (!of_float<Q>) return refusal<"T04 this function takes tensors of floats: cast the operand", Q>{};
  else if constexpr (!(scores_have_dims_of<Q, K, Visible> && ...))
    return refusal<
        "T03 attention: the mask has a dim that neither the queries nor the keys have: broadcast the queries along it",
        Visible..., Q, K>{};
  else return positions_finding<Length, Memory, Visible...>();
}
/// The line of a call of attention. It cannot be made if the operands have an error.
template <class... Operands>
using attention_line = checked_line<decltype(attention_finding<Operands...>())>;

}  // namespace meshtensor::nn::detail
