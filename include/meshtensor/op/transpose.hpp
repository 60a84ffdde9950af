// SPDX-License-Identifier: Apache-2.0
// transpose: the dims of a tensor in another order.
#pragma once

#include "meshtensor/op/broadcast.hpp"

namespace meshtensor {

struct transpose_rule {
  static constexpr primitive kind = primitive::transpose;
  static constexpr declaration declares{.fusion = fusion_role::transpose};
  static constexpr void infer(inference& i) {
    i.expect(i.dims.includes(i.dims_of(0)) && i.dims_of(0).includes(i.dims),
             "T03 transpose: the result does not name exactly the dims of the operand", 1);
    i.give(i[0].type, i.dims);
  }
  static constexpr meshtensor::sharding sharding(module const&, node const&) {
    return meshtensor::sharding{}.passes_partial(linearity::separate);
  }
  static constexpr value_id simplify(auto& s, node& n) { return detail::read_through(s, n); }
  static constexpr void gradient(differentiation& d, node const& n) {
    d.contribute(d.b.m.operand(n, 0), d.cotangent(d.b.m.result(n)));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    broadcast_rule::evaluate(e);
  }
};

constexpr value_id transpose(builder& b, value_id x, shape const& dims) {
  return b.m.values[x].dims == dims ? x : add_node<transpose_rule>(b, {x}, {}, {dtype::f32, dims});
}

// ---- public functions ----

namespace detail {
template <handle H, dim_type... D>
consteval auto transpose_finding() {
  if constexpr (has_dims<H, D...> && has_only_dims<H, D...>) return no_error{};
  else return refusal<"T03 transpose: the result does not name exactly the dims of the operand", H, D...>{};
}
}  // namespace detail

/// Reorders the dims of a tensor: `transpose(x, to(length, batch, d_model))`.
///
/// dims    those of `to`
/// layout  each dim keeps its axes. Partial reductions pass through
/// grad    the cotangent
/// errors  T03 `to` does not name exactly the dims of `x`
template <handle H, dim_type... D>
constexpr auto transpose(H const& x, to_dims<D...>,
                         checked_line<decltype(detail::transpose_finding<H, D...>())> const& where = {}) {
  if constexpr (nothing_found<decltype(detail::transpose_finding<H, D...>())>) {
    detail::recording r(x.owner, where);
    return detail::wrap<H::type, dims<D...>>(r.b, transpose(r.b, x.id, detail::shape_of(r.b, dims<D...>{})));
  } else {
    return detail::given_up<H::type, dims<D...>>(x);
  }
}

/// Rejects a call by position, or without `to`.
template <handle H, detail::argument A = detail::none_given, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given, detail::argument D = detail::none_given>
requires(!detail::is_to<A>)
constexpr auto transpose(
    H const& x, A const& = {}, B const& = {}, C const& = {}, D const& = {},
    checked_line<
        detail::refusal<"T26 transpose names the dims of its result: transpose(x, mt::to(b, a)); operands meet by "
                        "name, so it is seldom needed",
                        H>> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
