// SPDX-License-Identifier: Apache-2.0
// Emits top_k, which is a call of the library.
#pragma once

#include "meshtensor/emit/stablehlo/argsort.hpp"

namespace meshtensor::hlo {

/// Emits a sort and takes the first of its positions.
/// errors  R59 there are fewer elements than are wanted
inline value top_positions(emission& e, node const& n) {
  call_row const& c = e.m.calls[call_of(n)];
  auto const along = static_cast<dim_id>(c.whole.at[0]), best = static_cast<dim_id>(c.gives.at[0]);
  value const all = sorted_positions(e, e.operand(n), e.dims(n).find(along), true);
  auto const k = static_cast<std::size_t>(e.dims(n).find(along));
  extents end = all.type.shape;
  end[k] = e.result_type(n).shape[static_cast<std::size_t>(e.result_dims(n).find(best))];
  if (std::int64_t const there = all.type.shape[k]; end[k] > there)
    throw error("R59", {"top_k: there are no ", end[k], " greatest of the ", there, " elements along '",
                        e.m.dim_name(along), "'"});
  value const first = slice(e.w, all, extents(end.size()), end);
  shape given{};
  for (int i = 0; i < e.dims(n).count; ++i) given.add(static_cast<int>(k) == i ? best : dim_id{e.dims(n).at[i]});
  return e.laid(convert(e.w, first, "i32"), given, e.result_dims(n), e.result_type(n).shape);
}

}  // namespace meshtensor::hlo
