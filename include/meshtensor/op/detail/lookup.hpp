// SPDX-License-Identifier: Apache-2.0
// The attributes of gather and scatter_add, and the loop over the rows that an index names.
#pragma once

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

/// The rows into which a gather along a sharded dim looks. If each rank looks into its own rows, the result is a
/// partial sum. The whole table is gathered instead if its users have it whole anyway, or if they want all its rows.
enum class looks_into : std::uint8_t { own_rows, whole_table };

namespace detail {
/// Calls f(whether the index is in range, offset in the table, offset in the rows) for every row. `rows` has all dims
/// of the lookup but `dim`.
template <class F>
void each_row(view const& table, view const& index, view const& rows, int dim, F f) {
  int const along = table.find(dim);
  walk<3> w;
  for (int i = 0; i < rows.count; ++i) w.extent[w.count++] = rows.extent[i];
  w.bind(0, table, rows.dim), w.bind(1, index, rows.dim), w.bind(2, rows, rows.dim);
  if (w.empty()) return;
  do {
    std::int64_t const global = with_element(index.type, [&]<class I>() {
      return static_cast<std::int64_t>(static_cast<arithmetic_t<I>>(index.as<I>()[w.offset[1]]));
    });
    std::int64_t const local = global < 0 ? -1 : global - table.origin[along];
    bool const here = local >= 0 && local < table.extent[along] && global < table.total[along];
    f(here, w.offset[0] + local * table.stride[along], w.offset[2]);
  } while (w.next());
}
}  // namespace detail

/// The attributes of gather and scatter_add.
struct lookup_attributes {
  dim_id dim;  // the dim of the table along which the index gives positions

  static constexpr lookup_attributes of(id const* slots) { return {static_cast<dim_id>(slots[0])}; }
  static constexpr lookup_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{dim}}; }
};

/// The gradients of gather and scatter_add use each other.
constexpr value_id gather(builder& b, value_id table, value_id index, dim_id dim, shape const& order = {},
                          looks_into where = looks_into::own_rows);
constexpr value_id scatter_add(builder& b, value_id x, value_id index, dim_id dim, shape const& like);

}  // namespace meshtensor
