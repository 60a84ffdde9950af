// SPDX-License-Identifier: Apache-2.0
// Defines operations on arrays that take or give indices: gather, scatter_add, one_hot, argsort, sort and iota.
#pragma once

#include <concepts>

#include "meshtensor/eager/array_operations/named_array.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/one_hot.hpp"
#include "meshtensor/op/scatter_add.hpp"
#include "meshtensor/op/sort.hpp"

namespace meshtensor {

template <named_array A, named_array I, dim_type D>
auto gather(A const& table, I const& index, D along) {
  return at_once([](auto const& x, auto const& i, auto d) { return gather(x, i, d); }, table, index, along);
}
template <named_array A, named_array I, dim_type D, dim_type... T>
auto scatter_add(A const& a, I const& index, D along, to_dims<T...> result) {
  return at_once([](auto const& x, auto const& i, auto d, auto t) { return scatter_add(x, i, d, t); }, a, index, along,
                 result);
}
template <named_array I, dim_type D, dtype T>
auto one_hot(I const& index, D along, dtype_constant<T> type) {
  return at_once([](auto const& i, auto d, auto t) { return one_hot(i, d, t); }, index, along, type);
}
template <named_array A, dim_type D>
auto argsort(A const& a, D along, sort_order order = sort_order::ascending) {
  return at_once([&](auto const& x, auto d) { return argsort(x, d, order); }, a, along);
}
template <named_array A, dim_type D>
auto sort(A const& a, D along, sort_order order = sort_order::ascending) {
  return at_once([&](auto const& x, auto d) { return sort(x, d, order); }, a, along);
}

/// The index along a dim. If the dim's type leaves its extent open, give the extent: `iota(batch, mt::i32, batch(4))`.
template <dim_type D, dtype T, std::same_as<dim_extent>... E>
auto iota(D along, dtype_constant<T> type, E const&... extents) {
  eager<> const s(extents...);
  return s.value(iota(s, along, type));
}

}  // namespace meshtensor
