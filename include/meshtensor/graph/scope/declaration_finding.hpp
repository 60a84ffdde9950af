// SPDX-License-Identifier: Apache-2.0
// Finds faults in the arguments of a declaration of a parameter or a state, and the dims among them.
#pragma once

#include <cstddef>
#include <type_traits>

#include "meshtensor/graph/variables.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor {

namespace detail {
template <class... Args>
struct dims_among_all {
  using type = typename joined<dims<>, std::conditional_t<dim_type<Args>, dims<Args>, dims<>>...>::type;
};
/// The position of an argument in a declaration: dims first, then an initializer, then a rule for merging replicas. It
/// is 3 for anything else.
template <class A>
inline constexpr int place_in_declaration = dim_type<A>                      ? 0
                                            : std::is_same_v<A, initializer> ? 1
                                            : std::is_same_v<A, merge_rule>  ? 2
                                                                             : 3;
/// Whether arguments are dims, perhaps followed by an initializer, and perhaps by a rule for merging replicas.
template <class... Args>
inline constexpr bool is_declaration = [] {
  constexpr int places[] = {0, place_in_declaration<Args>...};
  for (std::size_t i = 1; i <= sizeof...(Args); ++i)
    if (places[i] > 2 || places[i] < places[i - 1] || (places[i] != 0 && places[i] == places[i - 1])) return false;
  return true;
}();
/// The fault in the arguments of a declaration behind its name, or no_error.
template <class... Args>
consteval auto declaration_finding() {
  constexpr bool are_in_another_order = ((place_in_declaration<Args> < 3) && ...);
  if constexpr ((is_dtype<Args> || ...))
    return refusal<
        "T20 a parameter has the dtype of its program, which mt::precision<program, mt::bf16> sets: leave it "
        "out, as in s.parameter(\"weight\", in, out)",
        Args...>{};
  else if constexpr (!is_declaration<Args...>)
    return refusal<with_code<code_if<are_in_another_order, "T37", "T25">,
                             "a parameter is declared by its name, its dims and at last, if wanted, an initializer">,
                   Args...>{};
  else return no_error{};
}
}  // namespace detail

}  // namespace meshtensor
