// SPDX-License-Identifier: Apache-2.0
// concat: joins two tensors along a dim of each.
#pragma once

#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/slice.hpp"

namespace meshtensor {

struct concat_attributes {
  dim_id first, second;  // the dims of the operands
  dim_id to;             // the dim of the result

  static constexpr concat_attributes of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), static_cast<dim_id>(slots[1]), static_cast<dim_id>(slots[2])};
  }
  static constexpr concat_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{first, second, to}}; }
};

struct concat_rule {
  static constexpr primitive kind = primitive::concat;
  static constexpr declaration declares{
      .operands = {2, 2},
      .attributes = {{attribute_kind::dim}, {attribute_kind::dim}, {attribute_kind::dim}},
      .text = "{0} + {1} -> {2}"};
  static constexpr void infer(inference& i) {
    shape const &x = i.dims_of(0), &y = i.dims_of(1);
    concat_attributes const a = concat_attributes::of(i.attributes);
    i.expect(x.has(a.first) && y.has(a.second), "T01 concat: an operand lacks its dim", 3, 3);
    i.common_type();
    i.expect(a.first == a.second || !(x.has(a.second) || y.has(a.first)),
             "T03 concat: an operand has the dim along which the other one is joined: rename it", 3, 3);
    i.expect(!(x.has(a.to) || y.has(a.to)), "T03 concat: an operand already has a dim of the new name", 3, 4);
    i.give(i[0].type, united(replaced(x, a.first, a.to), replaced(y, a.second, a.to)));
  }
  static constexpr char const* verify(module const& m, node const& n) {
    shape const &x = m.operand_value(n, 0).dims, &y = m.operand_value(n, 1).dims, &z = m.result_value(n).dims;
    concat_attributes const a = concat_attributes::of(n);
    return replaced(x, a.first, a.to) == z && replaced(y, a.second, a.to) == z
               ? nullptr
               : "the operands of concat do not fit its result";
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    concat_attributes const a = concat_attributes::of(n);
    return meshtensor::sharding{}.keeps_whole(a.first).keeps_whole(a.second).keeps_whole(a.to).passes_partial(
        linearity::joint);
  }
  /// If the result is sharded along the dim, each operand moves to its positions there. The positions then choose
  /// between both.
  static constexpr bool partition(auto& p, node const& n) {
    builder& b = p.b;
    concat_attributes const a = concat_attributes::of(n);
    placement const z = p.implied_result(n);
    int const place = p.from.result_value(n).dims.find(a.to);
    if (z.axes_of(place) == 0) return false;
    placement along{};
    for (int o = 0, axis = 0; (axis = z.axis_at(place, o)) >= 0; ++o) along.shard(0, axis);
    value_id const x = p.placed_operand(n, 0, p.implied_of(n, 0)), y = p.placed_operand(n, 1, p.implied_of(n, 1));
    number_id const end = b.add_number(extent_row(a.first)), zero = b.literal(0);
    value_id const first = add_move(b, x, {a.first, a.to, zero, zero, 0, shift_kind::spread}, z);
    value_id const second = add_move(b, y, {a.second, a.to, end, zero, 0, shift_kind::spread}, z);
    value_id const position = p.placed(iota(b, a.to, dtype::i64), along);
    value_id const bound = constant(b, number::of_row(&b, end), dtype::i64);
    value_id const is_first = p.placed(elementwise(b, function::less, {position, bound}), along);
    p.gives(n, p.placed(select(b, {is_first, first, second}), z));
    return true;
  }
  static constexpr same_elements elements(module const&, node const& n) {
    concat_attributes const a = concat_attributes::of(n);
    return {shape{}.add(a.first).add(a.second), shape{}.add(a.to), true, "concatenated into"};
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const dy = d.cotangent(d.b.m.result(n));
    concat_attributes const a = concat_attributes::of(n);
    number_id const behind = d.b.add_number(extent_row(a.first));
    d.contribute(d.b.m.operand(n, 0), slice(d.b, dy, a.to, a.first, d.b.literal(0)));
    d.contribute(d.b.m.operand(n, 1), slice(d.b, dy, a.to, a.second, behind));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.operands[1], &z = e.results[0];
    concat_attributes const a = concat_attributes::of(e.n);
    int const along = z.find(a.to);
    detail::copy_by_name(x, 0, z, 0, a.first, a.to, x.extent);
    detail::copy_by_name(y, 0, z, x.extent[along] * z.stride[along], a.second, a.to, y.extent);
  }
};

/// Joins `x` along `dx` and then `y` along `dy` into one tensor along `to`. Other dims that one of them lacks are
/// broadcast.
constexpr value_id concat(builder& b, value_id x, dim_id dx, value_id y, dim_id dy, dim_id to) {
  shape const v = b.m.values[x].dims, w = b.m.values[y].dims;
  shape const dims = united(replaced(v, dx, to), replaced(w, dy, to));
  shape const first = replaced(dims, to, dx), second = replaced(dims, to, dy);
  if (!(v == first)) x = broadcast(b, x, first);
  if (!(w == second)) y = broadcast(b, y, second);
  return add_node<concat_rule>(b, {x, y}, concat_attributes{dx, dy, to}.packed());
}

// ---- public functions ----

/// Concatenates `x` along `dx` and `y` along `dy` into one tensor along `to`: `mt::dim<"to", dx + dy>`. Other dims that
/// one of them lacks are broadcast.
///
/// dims    those of `x` with `to` for `dx`, then other dims of `y`
/// layout  if `to` is sharded, ranks send only the elements that change ranks. Otherwise a sharded operand is gathered
/// grad    the two slices of the cotangent
/// errors  T01 an operand lacks its dim; T02 the dtypes differ; T03 an operand has `to` already
template <handle X, dim_type DX, handle Y, dim_type DY, dim_type To>
constexpr auto concat(X const& x, DX dx, Y const& y, DY dy, To to,
                      detail::rule_line<concat_rule, dims<DX, DY, To>, X, Y> const& where = {}) {
  return detail::record<concat_rule, DX, DY, To>(
      where,
      [&](builder& b) {
        dim_id const first = detail::dim_of(b, dx), second = detail::dim_of(b, dy), both = detail::dim_of(b, to);
        return concat(b, x.id, first, y.id, second, both);
      },
      x, y);
}

/// Rejects a call without the dims, or with more than two tensors.
template <detail::argument X, detail::argument Y = detail::none_given, detail::argument A = detail::none_given,
          detail::argument B = detail::none_given, detail::argument C = detail::none_given,
          detail::argument D = detail::none_given>
requires((handle<X> || handle<Y>) && (handle<Y> || !handle<A> || !dim_type<C> || !std::same_as<D, detail::none_given>))
constexpr auto concat(
    X const& x, Y const& y = {}, A const& = {}, B const& = {}, C const& = {}, D const& = {},
    detail::refused_call<"T37 concat(x, before, y, after, all) joins two tensors along a dim of each; `all` is "
                         "a dim as long as both, mt::dim<\"all\", before + after>",
                         X, Y, A, B, C, D> const& = {}) {
  return detail::given_up(x, y);
}

}  // namespace meshtensor
