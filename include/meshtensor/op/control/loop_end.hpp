// SPDX-License-Identifier: Apache-2.0
// Ends of a loop while it is recorded: after the last index of its dim, or early by the condition of an `until`.
#pragma once

#include <tuple>

#include "meshtensor/graph/element_number.hpp"
#include "meshtensor/op/control/until.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/iota.hpp"

namespace meshtensor::detail {

/// Ends a loop after the last index of its dim.
struct at_last_index {
  static constexpr bool is_early = false;
};

/// Ends a loop before the first iteration at which a condition holds. The first carry of the loop is the number of
/// iterations that are known to run.
template <class S, class Condition, class Rest>
struct at_exit {
  static constexpr bool is_early = true;
  S const& s;
  until<Condition, Rest> const& given;
  value_id first = no_id;  // the first carry, outside
  value_id known = no_id;  // the first carry, in the body

  constexpr void begin(builder& b, auto const&... carries) { first = goes_on(b, carries...); }
  /// The first carry after an iteration that leaves these carries.
  constexpr value_id after(builder& b, auto const&... carries) const { return add(b, known, goes_on(b, carries...)); }

  /// `stack` in the slices of iterations that have run, and `rest` in the others. `count` is the first carry after the
  /// loop over `dim`.
  static constexpr value_id with_rest(builder& b, dim_id dim, value_id count, value_id stack, value_id rest) {
    return select(b, elementwise(b, function::less, iota(b, dim, dtype::i64), count), stack, rest);
  }
  /// What stands behind the exit in output `I`, a stack over the first of its dims.
  template <std::size_t I>
  constexpr value_id rest_of(builder& b, value const& stack) const {
    auto const& rest = rest_at<I>(given.rest);
    if constexpr (handle<std::remove_cvref_t<decltype(rest)>>) {
      value_id const v = b.use(rest.id);
      refuse_other_dims(b, b.m.values[v], stack);
      return v;
    } else {
      require_element(b, rest, stack.type, "stands behind the exit in");
      return constant(b, rest, stack.type);
    }
  }

 private:
  constexpr value_id goes_on(builder& b, auto const&... carries) const {
    return cast(b, elementwise(b, function::logical_not, condition_of(s, b, given.condition, carries...)), dtype::i64);
  }
  static constexpr void refuse_other_dims(builder& b, value const& rest, value const& stack) {
    shape slice{};
    for (int i = 1; i < stack.dims.count; ++i) slice.add(stack.dims.at[i]);
    if (slice.includes(rest.dims)) return;
    diagnostic d{};
    add_type(add_type(d << "T01 the rest of mt::until is ", b.m, rest.type, rest.dims)
                 << ", but a slice of the output is ",
             b.m, stack.type, slice);
    b.note(d << ": the rest has dims of the slice alone");
  }
};

}  // namespace meshtensor::detail
