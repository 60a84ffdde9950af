// SPDX-License-Identifier: Apache-2.0
// broadcast: repeats a tensor along dims that it lacks.
#pragma once

#include "meshtensor/op/detail/composed.hpp"
#include "meshtensor/op/detail/copy.hpp"

namespace meshtensor {

namespace detail {
/// If the operand of a transpose or broadcast is itself made by one of them, lets the node read the operand of the
/// earlier node. The result is the same, because dims are matched by name. Returns the value that the node then returns
/// unchanged, or no_id if there is none.
constexpr value_id read_through(auto& s, node& n) {
  if (value_id const x = s.m.operand(n, 0); s.made_by(x, primitive::transpose) || s.made_by(x, primitive::broadcast)) {
    if (s.made_by(x, primitive::broadcast)) n.kind = primitive::broadcast;
    s.m.links[n.operands.first] = s.m.operand(s.maker(x), 0);
  }
  if (n.kind == primitive::broadcast && s.m.operand_value(n, 0).dims.count == s.m.result_value(n).dims.count)
    n.kind = primitive::transpose;
  return s.operand_if_alike(n);
}
}  // namespace detail

struct broadcast_rule {
  static constexpr primitive kind = primitive::broadcast;
  static constexpr declaration declares{.fusion = fusion_role::broadcast};
  static constexpr void infer(inference& i) {
    i.expect(i.dims.includes(i.dims_of(0)), "T03 broadcast: the result leaves out a dim of the operand", 1);
    i.give(i[0].type, i.dims);
  }
  static constexpr meshtensor::sharding sharding(module const&, node const&) {
    return meshtensor::sharding{}.passes_partial(linearity::separate);
  }
  static constexpr value_id simplify(auto& s, node& n) { return detail::read_through(s, n); }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const x = d.b.m.operand(n, 0);
    d.contribute(x, sum_to(d.b, d.cotangent(d.b.m.result(n)), d.b.m.values[x].dims));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    detail::copy_by_name(e.operands[0], 0, e.results[0], 0, no_id, no_id, e.results[0].extent);
  }
};

constexpr value_id broadcast(builder& b, value_id x, shape const& dims) {
  return add_node<broadcast_rule>(b, {x}, {}, {dtype::f32, dims});
}

// ---- public functions ----

namespace detail {
/// Whether all of `List` are dims of H.
template <class H, class List>
inline constexpr bool has_all = is_any<typename H::dim_list>;
template <handle H, class... D>
inline constexpr bool has_all<H, dims<D...>> = (has_dim<H, D> && ...);
/// Whether all dims of H are in `List`.
template <class HDims, class List>
inline constexpr bool is_within_v = is_any<HDims>;
template <class... D, class List>
inline constexpr bool is_within_v<dims<D...>, List> = (has_dim_v<List, D> && ...);

template <class H, class D>
concept lacks_dim = is_any<typename H::dim_list> || !has_dim_v<typename H::dim_list, D>;
template <class H, class... D>
concept has_dims = has_all<H, dims<D...>>;
template <class H, class... D>
concept has_only_dims = is_within_v<typename H::dim_list, dims<D...>>;

template <handle H, dim_type... D>
consteval auto broadcast_finding() {
  if constexpr (has_only_dims<H, D...>) return no_error{};
  else return refusal<"T03 broadcast: the result leaves out a dim of the operand", H, D...>{};
}
}  // namespace detail

/// Broadcasts a tensor along the dims that it lacks: `broadcast(bias, to(batch, d_ff))`. Elementwise operations
/// broadcast by themselves.
///
/// dims    those of `to`
/// grad    the cotangent, summed over the new dims
/// errors  T03 `to` leaves a dim of `x` out
template <handle H, dim_type... D>
constexpr auto broadcast(H const& x, to_dims<D...>,
                         checked_line<decltype(detail::broadcast_finding<H, D...>())> const& where = {}) {
  if constexpr (nothing_found<decltype(detail::broadcast_finding<H, D...>())>) {
    detail::recording r(x.owner, where);
    shape const wanted = detail::shape_of(r.b, dims<D...>{});
    return detail::wrap<H::type, dims<D...>>(r.b,
                                             r.b.m.values[x.id].dims == wanted ? x.id : broadcast(r.b, x.id, wanted));
  } else {
    return detail::given_up<H::type, dims<D...>>(x);
  }
}

/// Rejects a call without `to`.
template <handle H, detail::argument A = detail::none_given, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given, detail::argument D = detail::none_given>
requires(!detail::is_to<A>)
constexpr auto broadcast(H const& x, A const& = {}, B const& = {}, C const& = {}, D const& = {},
                         detail::refused_call<"T26 broadcast names all dims of its result: broadcast(x, mt::to(a, b))",
                                              H, A, B, C, D> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
