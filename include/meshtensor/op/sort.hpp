// SPDX-License-Identifier: Apache-2.0
// sort: sorts the elements along a dim in ascending or descending order.
#pragma once

#include <tuple>

#include "meshtensor/op/argsort.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/rename.hpp"

namespace meshtensor {

struct sorted_values {
  value_id sorted, positions;
};
/// Both steps read `x` under another name of the dim, so that it is gathered once and the index may have the dim.
constexpr sorted_values sort(builder& b, value_id x, dim_id dim, sort_order order) {
  shape const dims = b.m.values[x].dims;
  dim_id const other = b.dim_like(dim);
  value_id const whole = rename(b, x, dim, other);
  value_id const positions = rename(b, argsort(b, whole, other, order), other, dim);
  return {gather(b, whole, positions, other, dims, looks_into::whole_table), positions};
}

// ---- public functions ----

/// Sorts the elements along a dim, and also returns the positions that they had: `auto [sorted, position] = sort(x,
/// length)`. Otherwise like `argsort`.
///
/// grad    of the elements: the cotangent at their positions
template <handle H, dim_type D>
constexpr auto sort(H const& x, D along, sort_order order = sort_order::ascending,
                    detail::rule_line<argsort_rule, dims<D>, H> const& where = {}) {
  if constexpr (!has_dim<H, D> || of_bool<H>) {
    return std::tuple(x, argsort(x, along, order, where));
  } else {
    detail::recording r(x.owner, where);
    sorted_values const both = sort(r.b, x.id, detail::dim_of(r.b, along), order);
    return std::tuple(detail::wrap<H::type, typename H::dim_list>(r.b, both.sorted),
                      detail::wrap<dtype::i64, typename H::dim_list>(r.b, both.positions));
  }
}

}  // namespace meshtensor
