// SPDX-License-Identifier: Apache-2.0
// Emits a permute as a gather of the rows that the sources name. On a mesh, the rows of all ranks are gathered first,
// because StableHLO has no exchange whose partners change between steps.
#pragma once

#include "meshtensor/emit/stablehlo/all_to_all_rows.hpp"
#include "meshtensor/op/permute.hpp"
#include "meshtensor/pass/cost/received_elements.hpp"

namespace meshtensor::hlo {

/// Row `sources[i]` of `x` along dim `along` for each i. A row whose source is none of `count` rows is zero. The source
/// is at `places[source]` of `x`, or at its own number if there is no list.
inline value rows_by_sources(emission& e, value const& x, std::int64_t along, value const& sources,
                             std::vector<std::int64_t> const& places, std::int64_t count) {
  value const at =
      places.empty() ? sources : rows_at(e, constant(e.w, {"i64", {count}}, "[" + list_text(places) + "]"), sources);
  type t = x.type;
  t.shape[static_cast<std::size_t>(along)] = at.type.shape[0];
  extents sizes = x.type.shape, rest;
  sizes[static_cast<std::size_t>(along)] = 1;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(sizes.size()); ++d)
    if (d != along) rest.push_back(d);
  std::string const place = list_text(extents{along});
  value const found =
      e.w.op("gather", {x, at}, t,
             "dimension_numbers = #stablehlo.gather<offset_dims = [" + list_text(rest) + "], collapsed_slice_dims = [" +
                 place + "], start_index_map = [" + place +
                 "], index_vector_dim = 1>, slice_sizes = " + array_text(sizes) + ", indices_are_sorted = false");
  value const limit = like(e.w, sources, static_cast<double>(count));
  value const is_there =
      binary(e.w, "and", {compare(e.w, "LE", {like(e.w, sources, 0), sources}), compare(e.w, "LT", {sources, limit})});
  return select(e.w, {spread(e.w, is_there, {along}, t.shape), found, like(e.w, found, 0)});
}

inline value permute(emission& e, node const& n) {
  value const sources = convert(e.w, e.operand(n, 1), "i64");
  return rows_by_sources(e, e.operand(n), e.dims(n).find(permute_attributes::of(n).dim), sources, {},
                         sources.type.shape[0]);
}

/// Emits the exchange of rows by sources.
inline value permute_on_mesh(emission& e, node const& n) {
  move_rows_attributes const a = move_rows_attributes::of(n);
  meshtensor::value const& held = e.m.operand_value(n, 0);
  int const along = held.dims.find(a.from);
  value const x = e.operand(n), sources = convert(e.w, e.operand(n, 1), "i64");
  std::int64_t const members = e.b.members(a.axes), count = sources.type.shape[0];
  std::int64_t const each = x.type.shape[static_cast<std::size_t>(along)];
  if (members == 1) return rows_by_sources(e, x, along, sources, {}, count);
  type all = x.type;
  all.shape[static_cast<std::size_t>(along)] *= members;
  value const gathered =
      e.w.op("all_gather", {x}, all, "all_gather_dim = " + std::to_string(along) + " : i64, " + groups(e.mesh, a.axes));
  std::vector<std::int64_t> places(static_cast<std::size_t>(count));
  for (std::int64_t member = 0; member < members; ++member) {
    interval const part =
        e.b.part(held, along, [&](int axis) { return meshtensor::detail::place_of_member(e.b, a.axes, member, axis); });
    for (std::int64_t k = 0; k < part.count; ++k) places[static_cast<std::size_t>(part.begin + k)] = member * each + k;
  }
  value const first[] = {e.origin(held.layout, along, each).value_or(constant(e.w, {"i64", {}}, 0.0))};
  return rows_by_sources(e, gathered, along, part(e.w, sources, first, {each}), places, count);
}

}  // namespace meshtensor::hlo
