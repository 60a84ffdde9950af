// SPDX-License-Identifier: Apache-2.0
// Makes a dim a ring for windows: its last elements come before it, and its first ones after it.
#pragma once

#include "meshtensor/op/concat.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/window.hpp"

namespace meshtensor::detail {

/// A dim longer than `of` by some elements, which is the same one for equal lengths. Layouts' rules for `of` hold for
/// it.
constexpr dim_id longer_dim(builder& b, dim_id of, std::int64_t by) {
  std::int64_t const places = window_places{by - 1, 1}.packed();
  diagnostic label{};
  label << "ring/" << of << "/" << by;
  for (int d = 0; d < b.m.dim_count; ++d) {
    dim_row const& row = b.m.dims[d];
    if (row.kind == dim_row::windowed && row.first == of && row.value == places &&
        b.m.dim_name(d) == name::of(label.view()))
      return static_cast<dim_id>(d);
  }
  return b.add_dim({dim_row::windowed, b.intern(name::of(label.view())), of, no_id, places});
}

/// `x` with the elements that a window reaches beyond the ends of its dim. The window therefore has no padding
/// afterwards.
constexpr value_id wrapped(builder& b, value_id x, window_row& w, std::int64_t beyond) {
  if (beyond == 0) return x;
  diagnostic label{};
  label << "circular padding of " << beyond;
  dim_id const edge = b.dim(name::of(label.view()), extent_rule(beyond)), along = w.input;
  dim_id const once = longer_dim(b, along, beyond), twice = longer_dim(b, along, 2 * beyond);
  number const all = number::of_row(&b, b.add_number(extent_row(along)));
  value_id const last = slice(b, x, along, edge, b.add_number(all - static_cast<double>(beyond)));
  value_id const first = slice(b, x, along, edge, b.literal(0));
  w.input = twice;
  w.low = w.high = b.literal(0);
  return concat(b, concat(b, last, edge, x, along, once), once, first, edge, twice);
}

}  // namespace meshtensor::detail
