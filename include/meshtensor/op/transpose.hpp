// SPDX-License-Identifier: Apache-2.0
// transpose and rename: reorder or rename the dims of a tensor. Nothing here computes.
#pragma once

#include "meshtensor/op/broadcast.hpp"

namespace meshtensor {

constexpr value_id rename(builder& b, value_id x, dim_id from, dim_id to);

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

struct rename_attributes {
  dim_id from, to;  // dims

  static constexpr rename_attributes of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), static_cast<dim_id>(slots[1])};
  }
  static constexpr rename_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{from, to}}; }
};

struct rename_rule {
  static constexpr primitive kind = primitive::rename;
  static constexpr declaration declares{
      .attributes = {{attribute_kind::dim}, {attribute_kind::dim}}, .buffer = buffer_use::shared, .text = "{0} -> {1}"};
  static constexpr void infer(inference& i) {
    rename_attributes const a = rename_attributes::of(i.attributes);
    i.expect(i.dims_of(0).has(a.from), "T01 rename: the operand lacks the dim", 1, 1);
    i.expect(!i.dims_of(0).has(a.to), "T03 rename: the operand already has a dim of the new name", 1, 2);
    i.give(i[0].type, replaced(i.dims_of(0), a.from, a.to));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    rename_attributes const a = rename_attributes::of(n);
    return meshtensor::sharding{}.renamed(a.from, a.to).passes_partial(linearity::separate);
  }
  static constexpr same_elements elements(module const&, node const& n) {
    rename_attributes const a = rename_attributes::of(n);
    return {shape{}.add(a.from), shape{}.add(a.to), false, "renamed to"};
  }
  /// Two renamings become one.
  static constexpr value_id simplify(auto& s, node& n) {
    value_id const x = s.m.operand(n, 0);
    rename_attributes const a = rename_attributes::of(n);
    if (s.made_by(x, primitive::rename) && rename_attributes::of(s.maker(x)).to == a.from) {
      set_attributes(n, rename_attributes{rename_attributes::of(s.maker(x)).from, a.to}.packed());
      s.m.links[n.operands.first] = s.m.operand(s.maker(x), 0);
    }
    return s.operand_if_alike(n);
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    rename_attributes const a = rename_attributes::of(n);
    d.contribute(d.b.m.operand(n, 0), rename(d.b, d.cotangent(d.b.m.result(n)), a.to, a.from));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    rename_attributes const a = rename_attributes::of(e.n);
    detail::copy_by_name(e.operands[0], 0, e.results[0], 0, a.from, a.to, e.results[0].extent);
  }
};

constexpr value_id transpose(builder& b, value_id x, shape const& dims) {
  return b.m.values[x].dims == dims ? x : add_node<transpose_rule>(b, {x}, {}, {dtype::f32, dims});
}
constexpr value_id rename(builder& b, value_id x, dim_id from, dim_id to) {
  return add_node<rename_rule>(b, {x}, rename_attributes{from, to}.packed());
}

// ---- what users call ----

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
/// layout  each dim keeps its axes; partial reductions pass through
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
template <handle H, detail::argument A = detail::no_argument, detail::argument B = detail::no_argument,
          detail::argument C = detail::no_argument, detail::argument D = detail::no_argument>
requires(!detail::is_to<A>)
constexpr auto transpose(
    H const& x, A const& = {}, B const& = {}, C const& = {}, D const& = {},
    checked_line<
        detail::refusal<"T10 transpose names the dims of its result: transpose(x, mt::to(b, a)); operands meet by "
                        "name, so it is seldom needed",
                        H>> const& = {}) {
  return detail::given_up(x);
}

/// Renames dim `from` of a tensor to `to`: `rename(x, length, memory)`, so that every element along `length` can be
/// combined with every other one. Both dims have one extent; if one is bound at start-up, it is inferred from the
/// other.
///
/// dims    those of `x`, `to` in the place of `from`
/// errors  T01 `x` lacks `from`; T03 `x` has `to` already
template <handle H, dim_type From, dim_type To>
constexpr auto rename(H const& x, From from, To to,
                      detail::rule_line<rename_rule, dims<From, To>, H> const& where = {}) {
  return detail::record<rename_rule, From, To>(
      where,
      [&](builder& b) {
        dim_id const old_dim = detail::dim_of(b, from), new_dim = detail::dim_of(b, to);
        return rename(b, x.id, old_dim, new_dim);
      },
      x);
}

}  // namespace meshtensor
