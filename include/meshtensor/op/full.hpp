// SPDX-License-Identifier: Apache-2.0
// Tensors filled with one number.
#pragma once

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/detail/record.hpp"

namespace meshtensor {

/// A tensor that is one number everywhere: `full(s, 0.5, mt::f32, to(batch, d_model))`. The number may be set at run
/// time, or be a schedule. Without dims, the result is the number alone: `full(s, rate, mt::f32)`.
///
/// dims    those of `to`
/// grad    none
/// errors  T02 a fraction as an integer
template <scope S, dtype T, dim_type... D>
constexpr tensor<T, D...> full(S const& s, number const& everywhere, dtype_constant<T>, to_dims<D...>,
                               line const& where = {}) {
  detail::recording r(&s.graph_builder(), where);
  detail::require_element(r.b, everywhere, T, "fills", "choose a float");
  value_id const v = constant(r.b, everywhere, T);
  return {&r.b, sizeof...(D) == 0 ? v : broadcast(r.b, v, detail::shape_of(r.b, dims<D...>{}))};
}
template <scope S, dtype T>
constexpr tensor<T> full(S const& s, number const& everywhere, dtype_constant<T> type, line const& where = {}) {
  return full(s, everywhere, type, to(), where);
}
/// Rejects dims that are not in `to`.
template <scope S, dtype T, dim_type A, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given, detail::argument D = detail::none_given>
constexpr auto full(S const& s, number const&, dtype_constant<T>, A, B const& = {}, C const& = {}, D const& = {},
                    detail::refused_call<"T26 the dims of a tensor that is filled with a number are in to: full(s, "
                                         "0.5, mt::f32, mt::to(batch))",
                                         A, B, C, D> const& = {}) {
  s.graph_builder().give_up();
  return handle_t<T, typename detail::dims_among_all<A, B, C, D>::type>(&s.graph_builder(), value_id{});
}

}  // namespace meshtensor
