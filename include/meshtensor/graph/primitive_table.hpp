// SPDX-License-Identifier: Apache-2.0
// Tables that are indexed by primitives. Their rows have the order of `primitive`, and the compiler checks that no row
// is missing.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "meshtensor/graph/primitive.hpp"

namespace meshtensor {

/// A row of a table of structs: a primitive and its struct.
template <primitive Of, class Struct>
struct table_row {
  static constexpr primitive of = Of;
  using type = Struct;
};

/// Maps successive primitives to structs.
template <class First, class... Rows>
class primitive_table {
  template <class F>
  static constexpr std::array calls{&F::template operator()<typename First::type>,
                                    &F::template operator()<typename Rows::type>...};

 public:
  /// Whether the rows are those of the primitives from `first` to `last` in their order.
  static constexpr bool lists(primitive first, primitive last) {
    int next = static_cast<int>(first);
    return First::of == first && ((static_cast<int>(Rows::of) == ++next) && ...) && next == static_cast<int>(last);
  }
  /// Returns `f.operator()<Struct>()` with the struct of a primitive. `f` is a lambda.
  template <class F>
  static constexpr decltype(auto) call(primitive p, F const& f) {
    return (f.*calls<F>[static_cast<std::size_t>(p) - static_cast<std::size_t>(First::of)])();
  }
  /// Whether `Struct` is the struct of any primitive for which `has` returns true.
  template <class Struct>
  static constexpr bool leads_to(auto const& has) {
    return (std::is_same_v<Struct, typename First::type> && has(First::of)) ||
           ((std::is_same_v<Struct, typename Rows::type> && has(Rows::of)) || ...);
  }
};

/// The row of an operation in a table of all operations, whose rows begin with a member `of`.
constexpr std::size_t operation_row(primitive p) {
  return static_cast<std::size_t>(p) - static_cast<std::size_t>(first_operation);
}
/// Whether the rows of such a table are all operations in their order.
template <class Row, std::size_t Count>
constexpr bool lists_operations(Row const (&rows)[Count]) {
  for (std::size_t i = 0; i < Count; ++i)
    if (operation_row(rows[i].of) != i) return false;
  return Count == operation_row(last_operation) + 1;
}

}  // namespace meshtensor
