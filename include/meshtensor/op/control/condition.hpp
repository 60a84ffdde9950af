// SPDX-License-Identifier: Apache-2.0
// The condition by which a loop may end early: a function of the scope and the carries, which returns a bool.
#pragma once

#include <type_traits>

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/control/loop_types.hpp"

namespace meshtensor::detail {

/// The first error that the type of a condition's result shows, or `no_error`.
template <class Go>
consteval auto condition_finding() {
  if constexpr (std::is_same_v<Go, no_bool>) return no_error{};  // the comparison of numbers is refused already
  else if constexpr (std::is_same_v<Go, bool>)
    return refusal<
        "T28 the condition of a loop is a bool of C++, which is known before the program runs: return one "
        "of tensors, as sum(x) > 0 is",
        Go>{};
  else if constexpr (!handle<Go>) return refusal<"T02 the condition of a loop is not a bool", Go>{};
  else if constexpr (!of_bool<Go>) return refusal<"T02 the condition of a loop is not a bool", Go>{};
  else return no_error{};
}

/// Records a condition of these carries in the current region.
template <class S, class Condition, class... H>
constexpr value_id condition_of(S const& s, builder& b, Condition const& condition, H const&... carries) {
  auto const go = condition(s, carries...);
  b.expect(b.m.values[go.id].dims.count == 0, "T03 the condition of a loop has dims: reduce it with any or all");
  return b.use(go.id);
}

}  // namespace meshtensor::detail
