// SPDX-License-Identifier: Apache-2.0
// A parameter as one list of elements, and shares of that list.
#pragma once

#include <numeric>

#include "meshtensor/op/detail/extent_product.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/reshape.hpp"

namespace meshtensor::detail {

/// Finds or adds a dim of the library's own.
constexpr dim_id own_dim(builder& b, dim_row const& wanted, char const* what) {
  for (int d = 0; d < b.m.dim_count; ++d) {
    dim_row const& row = b.m.dims[d];
    if (row.kind == wanted.kind && row.first == wanted.first && row.second == wanted.second &&
        row.value == wanted.value)
      return static_cast<dim_id>(d);
  }
  dim_row row = wanted;
  row.label = b.own_label(wanted.first, what);
  return b.add_dim(row);
}

/// The dim that counts all elements of a tensor with these dims. No rule of a layout shards it. It is that of a part of
/// owners, which no rule knows, or a new dim.
constexpr dim_id flat_dim(builder& b, shape const& dims) {
  dim_id all = static_cast<dim_id>(dims.at[0]);
  if (dims.count == 1) return b.m.dims[all].kind == dim_row::quotient ? all : b.dim_like(all);
  for (int i = 1; i < dims.count; ++i)
    all = own_dim(b, {dim_row::product, no_id, all, static_cast<dim_id>(dims.at[i]), 0}, "flat");
  return all;
}
/// The dim of a part of the elements that a dim counts: Kept of each Of, rounded up.
template <int Kept, int Of>
constexpr dim_id part_dim(builder& b, dim_id all) {
  constexpr int divisor = std::gcd(Kept, Of), kept = Kept / divisor, of = Of / divisor;
  if constexpr (kept != 1) {
    diagnostic label{};
    label << "kept/" << kept;
    all = own_dim(b, {dim_row::product, no_id, all, b.dim(name::of(label.view()), extent_rule(kept)), 0}, "kept");
  }
  return own_dim(b, {dim_row::windowed, no_id, all, no_id, window_places{-1, of}.packed()}, "part");
}

/// A tensor as one list along `flat_dim(dims)`, where `dims` are some of its dims.
constexpr value_id flattened(builder& b, value_id x, shape const& dims) {
  dim_id const all = flat_dim(b, dims);
  if (dims.has(all)) return x;
  return dims.count == 1 ? rename(b, x, static_cast<dim_id>(dims.at[0]), all) : merge(b, x, dims, all);
}
/// The opposite of `flattened`.
constexpr value_id unflattened(builder& b, value_id x, shape const& dims) {
  dim_id const all = flat_dim(b, dims);
  if (dims.has(all)) return x;
  return dims.count == 1 ? rename(b, x, all, static_cast<dim_id>(dims.at[0])) : split(b, x, all, dims);
}

/// The extent of a dim as a tensor.
constexpr value_id extent_of(builder& b, dim_id dim, dtype type) {
  return constant(b, number::of_row(&b, b.add_number(extent_row(dim))), type);
}

}  // namespace meshtensor::detail
