// SPDX-License-Identifier: Apache-2.0
// rename: another name for a dim of a tensor.
#pragma once

#include "meshtensor/op/broadcast.hpp"

namespace meshtensor {

constexpr value_id rename(builder& b, value_id x, dim_id from, dim_id to);

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

constexpr value_id rename(builder& b, value_id x, dim_id from, dim_id to) {
  return add_node<rename_rule>(b, {x}, rename_attributes{from, to}.packed());
}

// ---- public functions ----

/// Renames dim `from` of a tensor to `to`. For example, after `rename(x, length, memory)`, every element along `length`
/// can be combined with every other one. Both dims have one extent. If one of them is bound at start-up, it is inferred
/// from the other.
///
/// dims    those of `x`, with `to` in the place of `from`
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
