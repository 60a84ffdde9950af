// SPDX-License-Identifier: Apache-2.0
// Parts of a dim: slice takes a range, or each k-th element, pad surrounds with a value, concat joins two. Each names a
// new dim, because the extent changes.
#pragma once

#include "meshtensor/op/detail/moved.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

/// A row `no_id` for the step: 1.
constexpr value_id slice(builder& b, value_id x, dim_id from, dim_id to, number_id first, number_id step = no_id);
constexpr value_id pad(builder& b, value_id x, dim_id from, dim_id to, number_id first, number_id around,
                       number_id step = no_id);

struct slice_rule {
  static constexpr primitive kind = primitive::slice;
  static constexpr declaration declares{.attributes = {{attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::place},
                                                       {attribute_kind::place, true}},
                                        .buffer = buffer_use::window,
                                        .text = "{0} -> {1} from {2}[ by {3}]"};
  static constexpr void infer(inference& i) {
    shape const& x = i.dims_of(0);
    strided_window const a = strided_window::of(i.attributes);
    i.expect(x.has(a.from), "T01 slice: the operand lacks the dim", 1, 1);
    i.expect(a.from != a.to, "T03 slice: a part has another extent, so it needs another dim", 0, 2);
    i.expect(!x.has(a.to), "T03 slice: the operand already has a dim of the new name", 1, 2);
    i.give(i[0].type, replaced(x, a.from, a.to));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    strided_window const a = strided_window::of(n);
    return meshtensor::sharding{}.keeps_whole(a.from).keeps_whole(a.to).passes_partial(linearity::separate);
  }
  static constexpr bool partition(auto& p, node const& n) {
    strided_window const a = strided_window::of(n);
    return detail::move_along(p, n, {a.from, a.to, a.first, no_id, 0, shift_kind::cut, a.step});
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const dy = d.cotangent(d.b.m.result(n));
    strided_window const a = strided_window::of(n);
    d.contribute(d.b.m.operand(n, 0), pad(d.b, dy, a.to, a.from, a.first, d.b.literal(0), a.step));
  }
  static void require_places(module const& m, node const& n, number_value const* numbers, std::int64_t const* extent) {
    strided_window const a = strided_window::of(n);
    require_within(m, positions_of(numbers, a.first, a.step), shift_kind::cut, a.from, extent[a.from], a.to,
                   extent[a.to]);
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    strided_window const a = strided_window::of(e.n);
    positions const at = window_positions(e);
    int const along = x.find(a.from);
    view stepped = x;
    stepped.stride[along] *= at.step;
    detail::copy_by_name(stepped, at.first * x.stride[along], y, 0, a.from, a.to, y.extent);
  }
};

struct pad_attributes {
  dim_id from, to;   // dims
  number_id first;   // the position of the operand along `to`: a row of the table of numbers
  number_id around;  // the value of the other elements: likewise
  number_id step;    // likewise; no_id: 1

  static constexpr pad_attributes of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), static_cast<dim_id>(slots[1]), static_cast<number_id>(slots[2]),
            static_cast<number_id>(slots[3]), static_cast<number_id>(slots[4])};
  }
  static constexpr pad_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{from, to, first, around, step}}; }
};

struct pad_rule {
  static constexpr primitive kind = primitive::pad;
  static constexpr declaration declares{.attributes = {{attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::place},
                                                       {attribute_kind::number},
                                                       {attribute_kind::place, true}},
                                        .text = "{0} -> {1} at {2}[ by {4}] around {3}"};
  static constexpr void infer(inference& i) {
    shape const& x = i.dims_of(0);
    pad_attributes const a = pad_attributes::of(i.attributes);
    i.expect(x.has(a.from), "T01 pad: the operand lacks the dim", 1, 1);
    i.expect(a.from != a.to, "T03 pad: the result has another extent, so it needs another dim", 0, 2);
    i.expect(!x.has(a.to), "T03 pad: the operand already has a dim of the new name", 1, 2);
    i.give(i[0].type, replaced(x, a.from, a.to));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    pad_attributes const a = pad_attributes::of(n);
    return meshtensor::sharding{}.keeps_whole(a.from).keeps_whole(a.to);
  }
  static constexpr bool partition(auto& p, node const& n) {
    pad_attributes const a = pad_attributes::of(n);
    return detail::move_along(p, n, {a.from, a.to, a.first, a.around, 0, shift_kind::spread, a.step});
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const dy = d.cotangent(d.b.m.result(n));
    pad_attributes const a = pad_attributes::of(n);
    d.contribute(d.b.m.operand(n, 0), slice(d.b, dy, a.to, a.from, a.first, a.step));
  }
  static void require_places(module const& m, node const& n, number_value const* numbers, std::int64_t const* extent) {
    pad_attributes const a = pad_attributes::of(n);
    require_within(m, positions_of(numbers, a.first, a.step), shift_kind::spread, a.from, extent[a.from], a.to,
                   extent[a.to]);
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    pad_attributes const a = pad_attributes::of(e.n);
    positions const at = positions_in(e);
    int const along = y.find(a.to);
    view stepped = y;
    stepped.stride[along] *= at.step;
    detail::fill_elements(y, e.context.numbers[a.around]);
    detail::copy_by_name(x, 0, stepped, at.first * y.stride[along], a.from, a.to, x.extent);
  }
  /// The elements of its result that are those of its operand. errors R10 there are none such, or the step is 0
  static positions positions_in(evaluation const& e) {
    pad_attributes const a = pad_attributes::of(e.n);
    int const along = e.results[0].find(a.to);
    positions const at = positions_of(e.context.numbers, a.first, a.step);
    require_within(e.m, at, shift_kind::spread, a.from, e.operands[0].extent[along], a.to, e.results[0].extent[along]);
    return at;
  }
};

struct concat_attributes {
  dim_id first, second;  // the dims of the operands
  dim_id to;             // that of the result

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
  /// If the result is sharded along the dim, each operand moves to its place there, and positions choose between them.
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

constexpr value_id slice(builder& b, value_id x, dim_id from, dim_id to, number_id first, number_id step) {
  return add_node<slice_rule>(b, {x}, strided_window{from, to, first, step}.packed());
}
constexpr value_id pad(builder& b, value_id x, dim_id from, dim_id to, number_id first, number_id around,
                       number_id step) {
  return add_node<pad_rule>(b, {x}, pad_attributes{from, to, first, around, step}.packed());
}
/// `x` along `dx`, then `y` along `dy`, as one tensor along `to`; other dims that one of them lacks are broadcast.
constexpr value_id concat(builder& b, value_id x, dim_id dx, value_id y, dim_id dy, dim_id to) {
  shape const v = b.m.values[x].dims, w = b.m.values[y].dims;
  shape const dims = united(replaced(v, dx, to), replaced(w, dy, to));
  shape const first = replaced(dims, to, dx), second = replaced(dims, to, dy);
  if (!(v == first)) x = broadcast(b, x, first);
  if (!(w == second)) y = broadcast(b, y, second);
  return add_node<concat_rule>(b, {x, y}, concat_attributes{dx, dy, to}.packed());
}

// ---- what users call ----

namespace detail {
/// The row of a step; no_id: 1.
constexpr number_id step_row(builder& b, number const& step) {
  bool const is_one = step.count == 1 && step.items[0].kind == number::item::literal && step.items[0].value == 1;
  return is_one ? number_id{no_id} : b.add_number(step);
}
}  // namespace detail

/// Takes the elements `first`, `first` + `step`, … of `x` along `from`, as many as `to` has: `slice(x, length, past,
/// 1)`, or each second one: `slice(x, length, half, 0, 2)`. The step may be negative.
///
/// dims    those of `x`, `to` in the place of `from`
/// layout  if one of both dims is sharded, ranks exchange what changes hands
/// grad    the cotangent, padded with zeros
/// errors  T01 `x` lacks `from`; T03 `x` has `to` already; S03, or R10 where numbers change from step to step: the
///         slice reaches beyond the extent, or the step is 0
template <handle H, dim_type From, dim_type To>
constexpr auto slice(H const& x, From from, To to, number const& first, number const& step = 1,
                     detail::rule_line<slice_rule, dims<From, To>, H> const& where = {}) {
  return detail::record<slice_rule, From, To>(
      where,
      [&](builder& b) {
        dim_id const old_dim = detail::dim_of(b, from), new_dim = detail::dim_of(b, to);
        number_id const first_number = b.add_number(first), step_number = detail::step_row(b, step);
        return slice(b, x.id, old_dim, new_dim, first_number, step_number);
      },
      x);
}

/// Pads `x` along `from`: its elements become the elements `first`, `first` + `step`, … along `to`; all others are
/// `around`. With a step of 2, `pad(x, half, length, 0, 0, 2)` puts a zero behind each element. The step may be
/// negative.
///
/// dims    those of `x`, `to` in the place of `from`
/// layout  if one of both dims is sharded, ranks exchange what changes hands
/// grad    the slice of the cotangent
/// errors  T01 `x` lacks `from`; T03 `x` has `to` already; S03, or R10 where numbers change from step to step: `x`
///         reaches beyond the extent of `to`, or the step is 0
template <handle H, dim_type From, dim_type To>
constexpr auto pad(H const& x, From from, To to, number const& first, number const& around = 0, number const& step = 1,
                   detail::rule_line<pad_rule, dims<From, To>, H> const& where = {}) {
  return detail::record<pad_rule, From, To>(
      where,
      [&](builder& b) {
        dim_id const old_dim = detail::dim_of(b, from), new_dim = detail::dim_of(b, to);
        detail::require_element(b, around, H::type, "is the padding of");
        number_id const first_number = b.add_number(first), value_around = b.add_number(around);
        return pad(b, x.id, old_dim, new_dim, first_number, value_around, detail::step_row(b, step));
      },
      x);
}

/// Concatenates `x` along `dx` and `y` along `dy` into one tensor along `to`: `mt::dim<"to", dx + dy>`. Other dims that
/// one of them lacks are broadcast.
///
/// dims    those of `x` with `to` for `dx`, then other dims of `y`
/// layout  if `to` is sharded, ranks exchange what changes hands; if it is not, a sharded operand is gathered
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

/// Rejects a call with numbers in the place of dims.
template <handle H, detail::argument From = detail::no_argument, detail::argument To = detail::no_argument,
          detail::argument First = detail::no_argument, detail::argument Step = detail::no_argument>
requires(!dim_type<From> || !dim_type<To> || std::same_as<First, detail::no_argument>)
constexpr auto slice(
    H const& x, From const& = {}, To const& = {}, First const& = {}, Step const& = {},
    checked_line<
        detail::refusal<"T10 slice(x, length, part, first) takes a part along one dim: `part` is a dim of its own, "
                        "mt::dim<\"part\", 10>, and `first` a number",
                        H, From, To, First, Step>> const& = {}) {
  return detail::given_up(x);
}
/// Rejects a call without the dims, or with more than two tensors.
template <detail::argument X, detail::argument Y = detail::no_argument, detail::argument A = detail::no_argument,
          detail::argument B = detail::no_argument, detail::argument C = detail::no_argument,
          detail::argument D = detail::no_argument>
requires((handle<X> || handle<Y>) && (handle<Y> || !handle<A> || !dim_type<C> || !std::same_as<D, detail::no_argument>))
constexpr auto concat(
    X const& x, Y const& y = {}, A const& = {}, B const& = {}, C const& = {}, D const& = {},
    detail::refused_call<"T10 concat(x, before, y, after, all) joins two tensors along a dim of each; `all` is "
                         "a dim as long as both, mt::dim<\"all\", before + after>",
                         X, Y, A, B, C, D> const& = {}) {
  return detail::given_up(x, y);
}

}  // namespace meshtensor
