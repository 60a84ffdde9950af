// SPDX-License-Identifier: Apache-2.0
// The errors that the types of a call of repeat or scan show.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/control/loop_types.hpp"

namespace meshtensor::detail {

/// The first error that the types of a loop over `D` show, or `no_error`. `C` are its carries and `X` its sequences.
template <scope S, dim_type D, class Body, class... C, class... X>
consteval auto body_finding(std::tuple<C...> const*, std::tuple<X...> const*) {
  if constexpr (!takes<Body, S, C..., sliced_t<X, D>...>)
    return refusal<
        "T11 the body of a loop takes the scope, then each carry and a slice of each sequence as arguments of their "
        "own",
        C..., sliced_t<X, D>...>{};
  else {
    using Given =
        std::remove_cvref_t<std::invoke_result_t<Body const&, S const&, C const&..., sliced_t<X, D> const&...>>;
    if constexpr (gives<Given, sizeof...(C), sizeof...(X) != 0>) return no_error{};
    else if constexpr (sizeof...(X) != 0)
      return refusal<
          "T11 the body of scan returns std::tuple(next carry, what is stacked); several of either are a tuple of "
          "their own",
          Given>{};
    else return refusal<"T11 the body of a loop must return as many carries as it takes, several as a tuple", Given>{};
  }
}
template <scope S, dim_type D, class Carry, class Xs, class Body>
consteval auto loop_finding() {
  if constexpr (is_handles<Carry> && is_handles<Xs>)
    return body_finding<S, D, Body>(static_cast<tuple_of<Carry> const*>(nullptr),
                                    static_cast<tuple_of<Xs> const*>(nullptr));
  else
    return refusal<
        "T29 a loop takes tensors as its carries and sequences, several as a tuple, as full(s, 0, mt::f32) is for the "
        "number 0",
        Carry, Xs>{};
}
/// The line of a call of a loop. It refuses the call if the types show an error.
template <class... A>
using loop_line = checked_line<decltype(loop_finding<A...>())>;

}  // namespace meshtensor::detail
