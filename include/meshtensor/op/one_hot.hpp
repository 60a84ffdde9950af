// SPDX-License-Identifier: Apache-2.0
// one_hot: 1 at the position of an index along a new dim, 0 elsewhere.
#pragma once

#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/iota.hpp"

namespace meshtensor {

namespace detail {
constexpr shape with_rule_of(shape const& x, shape const& more) { return united(x, more); }

template <handle Index, dim_type D>
consteval auto one_hot_finding() {
  if constexpr (!of_integer<Index>) return refusal<"T02 one_hot: the index is not an integer", Index>{};
  else if constexpr (!lacks_dim<Index, D>) return refusal<"T03 one_hot: the index already has the dim", Index, D>{};
  else return no_error{};
}
}  // namespace detail

/// One-hot encoding along a new dim: 1 at the position `index`, 0 elsewhere. For example, `one_hot(next, vocab,
/// mt::f32)`. An index out of range gives zeros.
///
/// dims    those of the index, then the new one
/// grad    none
/// errors  T02 the index is not an integer; T03 the index has the dim already
template <handle Index, dim_type D, dtype T>
constexpr auto one_hot(Index const& index, D along, dtype_constant<T>,
                       checked_line<decltype(detail::one_hot_finding<Index, D>())> const& where = {}) {
  if constexpr (nothing_found<decltype(detail::one_hot_finding<Index, D>())>) {
    detail::recording r(index.owner, where);
    constexpr dtype wide = Index::type == dtype::u8 ? dtype::i32 : Index::type;  // because positions may exceed 255
    value_id const wanted = cast(r.b, index.id, wide);
    value_id const position = iota(r.b, detail::dim_of(r.b, along), wide);
    value_id const v = cast(r.b, elementwise(r.b, function::equal, wanted, position), T);
    return detail::wrap<T, result_dims_t<detail::with_rule_of, typename Index::dim_list, dims<D>>>(r.b, v);
  } else {
    return detail::given_up<T, typename Index::dim_list>(index);
  }
}
/// Rejects a call without the dtype, or with a size in the place of a dim.
template <handle Index, detail::argument A = detail::none_given, detail::argument B = detail::none_given>
requires(!dim_type<A> || !detail::is_dtype<B>)
constexpr auto one_hot(Index const& index, A const& = {}, B const& = {},
                       detail::refused_call_with<detail::code_if<dim_type<A>, "T24", "T25">,
                                                 "one_hot takes the new dim, then the dtype of its result: "
                                                 "one_hot(index, vocab, mt::f32)",
                                                 Index, A, B> const& = {}) {
  return detail::given_up<dtype::f32, typename Index::dim_list>(index);
}

}  // namespace meshtensor
