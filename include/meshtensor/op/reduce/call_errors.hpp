// SPDX-License-Identifier: Apache-2.0
// The errors that the types of a call of a reduction show.
#pragma once

#include <type_traits>

#include "meshtensor/op/detail/record.hpp"

namespace meshtensor {

namespace detail {

/// Stands for a dim that was not given.
struct no_dim {};
template <class... D>
using given_dims = typename joined<std::conditional_t<std::is_same_v<D, no_dim>, dims<>, dims<D>>...>::type;

template <class H, class D>
concept reducible_along = dim_type<D> && has_dim<H, D>;

/// The first error of a call of the reduction `Call` along the dims of a list, or `no_error`.
template <class Call, handle H, class... D>
consteval auto reduction_finding(dims<D...>) {
  if constexpr (!Call::template takes<H>) return refusal<Call::other_type, H>{};
  else if constexpr (!(dim_type<D> && ...))
    return refusal<
        with_code<code_if<(handle<D> || ...), "T35", "T25">,
                  joined_words<Call::name,
                               ": a reduction takes a tensor and its dims, as sum(x, a, b), without to; of two "
                               "tensors there are maximum and minimum">>,
        H, D...>{};
  else if constexpr (!(has_dim<H, D> && ...))
    return refusal<joined_words<"T01 ", Call::name, ": the operand lacks a dim">, H, D...>{};
  else return no_error{};
}
/// The line of a call of a reduction. It refuses the call if the types show an error.
template <class Call, class H, class... D>
using reduction_line = checked_line<decltype(reduction_finding<Call, H>(given_dims<D...>{}))>;

struct sum_call {
  static constexpr literal name = "sum";
  static constexpr literal other_type = "T04 sum of bools: cast the operand, or take any or all";
  template <class H>
  static constexpr bool takes = !of_bool<H>;
};
struct mean_call {
  static constexpr literal name = "mean";
  static constexpr literal other_type = "T04 mean takes a tensor of floats: cast the operand";
  template <class H>
  static constexpr bool takes = of_float<H>;
};
struct max_call {
  static constexpr literal name = "max";
  static constexpr literal other_type = "T04 max of bools: take any";
  template <class H>
  static constexpr bool takes = !of_bool<H>;
};
struct min_call {
  static constexpr literal name = "min";
  static constexpr literal other_type = "T04 min of bools: take all";
  template <class H>
  static constexpr bool takes = !of_bool<H>;
};
struct any_call {
  static constexpr literal name = "any";
  static constexpr literal other_type = "T04 any takes a tensor of bools: compare first";
  template <class H>
  static constexpr bool takes = of_bool<H>;
};
struct all_call {
  static constexpr literal name = "all";
  static constexpr literal other_type = "T04 all takes a tensor of bools: compare first";
  template <class H>
  static constexpr bool takes = of_bool<H>;
};

}  // namespace detail

}  // namespace meshtensor
