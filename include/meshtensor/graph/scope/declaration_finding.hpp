// SPDX-License-Identifier: Apache-2.0
// Finds faults in the arguments of a declaration of a parameter or a state, and the dims among them.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/graph/variables.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor {

namespace detail {
template <class... Args>
struct dims_among_all {
  using type = typename joined<dims<>, std::conditional_t<dim_type<Args>, dims<Args>, dims<>>...>::type;
};
template <class... Args>
inline constexpr bool last_is_initializer = false;
template <class First, class... More>
inline constexpr bool last_is_initializer<First, More...> =
    std::is_same_v<std::tuple_element_t<sizeof...(More), std::tuple<First, More...>>, initializer>;
/// The fault in the arguments of a declaration behind its name, or no_error.
template <class... Args>
consteval auto declaration_finding() {
  constexpr int others = (static_cast<int>(!dim_type<Args>) + ... + 0);
  constexpr bool ends = last_is_initializer<Args...>;
  constexpr bool are_in_another_order = ((dim_type<Args> || std::is_same_v<Args, initializer>) && ...);
  if constexpr ((is_dtype<Args> || ...))
    return refusal<
        "T20 a parameter has the dtype of its program, which mt::precision<program, mt::bf16> sets: leave it "
        "out, as in s.parameter(\"weight\", in, out)",
        Args...>{};
  else if constexpr (others != static_cast<int>(ends))
    return refusal<with_code<code_if<are_in_another_order, "T37", "T25">,
                             "a parameter is declared by its name, its dims and at last, if wanted, an initializer">,
                   Args...>{};
  else return no_error{};
}
}  // namespace detail

}  // namespace meshtensor
