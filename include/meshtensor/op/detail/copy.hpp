// SPDX-License-Identifier: Apache-2.0
// Copies the elements of one view into another by plain loops. Dims are matched by position or by name.
#pragma once

#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/number_arithmetic.hpp"

namespace meshtensor::detail {

/// Copies `x` into `y`, where dim i of `y` is dim `from[i]` of `x`. If it is -1, `x` lacks the dim and is broadcast.
inline void copy_elements(view const& x, std::int64_t x_first, view const& y, std::int64_t y_first, int const* from,
                          std::int64_t const* extent) {
  walk<2> w;
  for (int i = 0; i < y.count; ++i) {
    w.stride[0][i] = from[i] < 0 ? 0 : x.stride[from[i]];
    w.stride[1][i] = y.stride[i];
    w.extent[w.count++] = extent[i];
  }
  if (w.empty()) return;
  with_element(y.type, [&]<class E>() {
    do y.as<E>()[y_first + w.offset[1]] = x.as<E>()[x_first + w.offset[0]];
    while (w.next());
  });
}
/// Copies by dim names. The dim `from` of `x` is called `to` in `y`.
inline void copy_by_name(view const& x, std::int64_t x_first, view const& y, std::int64_t y_first, dim_id from,
                         dim_id to, std::int64_t const* extent) {
  int places[max_dims_of_one];
  for (int i = 0; i < y.count; ++i) places[i] = x.find(y.dim[i] == to ? id{from} : y.dim[i]);
  copy_elements(x, x_first, y, y_first, places, extent);
}

/// Fills a view with a number.
inline void fill_elements(view const& y, number_value const& number) {
  walk<1> w;
  for (int i = 0; i < y.count; ++i) w.stride[0][i] = y.stride[i], w.extent[w.count++] = y.extent[i];
  if (w.empty()) return;
  with_element(y.type, [&]<class E>() {
    E const element = element_of<E>(number);
    do y.as<E>()[w.offset[0]] = element;
    while (w.next());
  });
}

}  // namespace meshtensor::detail
