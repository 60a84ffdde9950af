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
  else if constexpr (!are_distinct<D...>())
    return refusal<joined_words<"T42 ", Call::name, ": one dim is named twice">, H, D...>{};
  else return no_error{};
}
/// The line of a call of a reduction. It refuses the call if the types show an error.
template <class Call, class H, class... D>
using reduction_line = checked_line<decltype(reduction_finding<Call, H>(given_dims<D...>{}))>;

/// The dtypes that a reduction takes.
enum class reducible : std::uint8_t { numbers, floats, bools };

/// A reduction for error sentences: its name, the dtypes that it takes, and the error of an operand of another dtype.
template <literal Name, reducible Takes, literal OtherType>
struct reduction_call {
  static constexpr literal name = Name;
  static constexpr literal other_type = OtherType;
  template <class H>
  static constexpr bool takes = Takes == reducible::numbers  ? !of_bool<H>
                                : Takes == reducible::floats ? of_float<H>
                                                             : of_bool<H>;
};
using sum_call = reduction_call<"sum", reducible::numbers, "T04 sum of bools: cast the operand, or take any or all">;
using mean_call = reduction_call<"mean", reducible::floats, "T04 mean takes a tensor of floats: cast the operand">;
using max_call = reduction_call<"max", reducible::numbers, "T04 max of bools: take any">;
using min_call = reduction_call<"min", reducible::numbers, "T04 min of bools: take all">;
using any_call = reduction_call<"any", reducible::bools, "T04 any takes a tensor of bools: compare first">;
using all_call = reduction_call<"all", reducible::bools, "T04 all takes a tensor of bools: compare first">;

}  // namespace detail

}  // namespace meshtensor
