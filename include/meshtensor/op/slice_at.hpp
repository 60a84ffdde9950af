// SPDX-License-Identifier: Apache-2.0
// Slices that start at a position given by a tensor: slice takes one, put overwrites one. Both are composed of a
// lookup at the positions start, start + 1, …, so they have the sharding, the gradients and the kernels of gather
// and put.
#pragma once

#include "meshtensor/op/put.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/slice.hpp"

namespace meshtensor {

namespace detail {

/// The `infer` of a slice at a tensor. Its operands are x and start, and its attributes are from and to.
struct slice_at {
  static constexpr void infer(inference& i) {
    shape const &x = i.dims_of(0), &start = i.dims_of(1);
    strided_window const a = strided_window::of(i.attributes);
    i.expect(x.has(a.from), "T01 slice: the operand lacks the dim", 1, 1);
    i.expect(i.is_integer(1), "T02 slice: the start is not an integer", 2);
    i.expect(a.from != a.to, "T03 slice: a part has another extent, so it needs another dim", 0, 2);
    i.expect(!x.has(a.to), "T03 slice: the operand already has a dim of the new name", 1, 2);
    i.expect(!start.has(a.from) && !start.has(a.to), "T03 slice: the start has a dim of the slice: rename it", 2, 3);
    i.give(i[0].type, united(replaced(x, a.from, a.to), start));
  }
};
/// The `infer` of a put of such a slice. Its operands are x, part and start, and its attributes are from and to.
struct put_at {
  static constexpr void infer(inference& i) {
    shape const &x = i.dims_of(0), &part = i.dims_of(1), &start = i.dims_of(2);
    strided_window const a = strided_window::of(i.attributes);
    i.expect(x.has(a.from), "T01 put: the operand lacks the dim", 1, 1);
    i.expect(part.has(a.to), "T01 put: the part lacks the dim of the slice", 2, 2);
    i.expect(i[0].type == i[1].type, "T02 the dtypes of the operands differ: cast one of them", 3);
    i.expect(i.is_integer(2), "T02 put: the start is not an integer", 4);
    i.expect(!x.has(a.to), "T03 put: the operand has the dim of the slice: rename it", 1, 2);
    i.expect(!part.has(a.from), "T03 put: the part has the dim along which it is put", 2, 1);
    i.expect(!start.has(a.from) && !start.has(a.to), "T03 put: the start has a dim of the slice: rename it", 4, 3);
    i.give(i[0].type, united(x, without(without(part, start), shape{}.add(a.to))));
  }
};
/// Whether `infer` finds no fault. A fault becomes the program's error.
template <class Rule>
constexpr bool fits(builder& b, std::initializer_list<value_id> operands, strided_window const& a) {
  inference i = inference_of(b.m, ids(operands.begin(), operands.size()), 0, a.packed().at, dtype::f32, {});
  Rule::infer(i);
  if (i.fault == nullptr) return true;
  diagnostic d{};
  b.note(add_facts(d << i.fault, b.m, i));
  return false;
}

/// Whether a slice as long as `to` fits into `from` for all extents that a run may set.
constexpr bool always_fits(module const& m, dim_id from, dim_id to) {
  dim_row const &whole = m.dims[from], &part = m.dims[to];
  bool const is_shorter = part.kind == dim_row::shifted && part.first == from && part.value <= 0;
  return is_shorter || (whole.kind == dim_row::fixed && part.kind == dim_row::fixed && part.value <= whole.value);
}
/// 0, 1, … along a dim as long as `to`. If it is longer than `from`, the slice reports S03. It slices a dim of its own,
/// because no layout shards such a dim.
constexpr value_id offsets_in_slice(builder& b, dim_id from, dim_id to, dim_id along, dtype type) {
  if (always_fits(b.m, from, to)) return iota(b, along, type);
  dim_id const all = b.dim_like(from);
  return slice(b, iota(b, all, type), all, along, b.literal(0));
}
/// The positions of a slice as long as `to`, along a dim `along` of the same extent. A start out of range is moved to
/// the nearest one at which the slice ends within `from`.
constexpr value_id slice_positions(builder& b, value_id start, dim_id from, dim_id to, dim_id along) {
  dtype type = b.m.values[start].type;
  if (type == dtype::u8) start = cast(b, start, type = dtype::i32);  // because positions may exceed 255
  number const all = number::of_row(&b, b.add_number(extent_row(from)));
  number const part = number::of_row(&b, b.add_number(extent_row(to)));
  value_id const last = constant(b, all - part, type), zero = constant(b, 0, type);
  value_id const not_behind = elementwise(b, function::minimum, start, last);
  value_id const first = elementwise(b, function::maximum, not_behind, zero);
  return add(b, first, offsets_in_slice(b, from, to, along, type));
}

/// The first error of a slice as long as `To` along `From`, or `no_error`. T05 if the compiler knows that it is longer.
template <class Rule, dim_type From, dim_type To, handle... H>
consteval auto slice_finding() {
  constexpr bool known = From::dim_rule.kind == extent_rule::fixed && To::dim_rule.kind == extent_rule::fixed;
  if constexpr (known && To::dim_rule.value > From::dim_rule.value)
    return refusal<"T05 the slice is longer than the dim that it is taken from", To, From>{};
  else return rule_finding<Rule, dims<From, To>, H...>();
}
/// The line of a call that takes or overwrites a slice. It refuses the call if the types show an error.
template <class Rule, class From, class To, class... H>
using slice_line = checked_line<decltype(slice_finding<Rule, From, To, H...>())>;

}  // namespace detail

// Inside, the slice has a dim of its own, which no layout shards. Therefore `from` and `to` may be sharded over one
// axis.

/// The slice of `x` at `start`, as long as `to`, along `from`. Dims that `start` and `x` both have are matched by name.
constexpr value_id slice_at(builder& b, value_id x, dim_id from, dim_id to, value_id start) {
  if (!detail::fits<detail::slice_at>(b, {x, start}, {from, to, no_id, no_id})) return x;
  dim_id const along = b.dim_like(to);
  shape const order = united(replaced(b.m.values[x].dims, from, along), b.m.values[start].dims);
  value_id const index = detail::slice_positions(b, start, from, to, along);
  return rename(b, gather(b, x, index, from, order), along, to);
}
/// `x` with its slice at `start` along `from` overwritten by `part`, which has `to` in the place of `from`.
constexpr value_id put_at(builder& b, value_id x, value_id part, dim_id from, dim_id to, value_id start) {
  if (!detail::fits<detail::put_at>(b, {x, part, start}, {from, to, no_id, no_id})) return x;
  dim_id const along = b.dim_like(to);
  value_id const index = detail::slice_positions(b, start, from, to, along);
  return put_rows(b, x, rename(b, part, to, along), index, from);
}

// ---- public functions ----

/// Takes a slice of `x` along `from`, as long as `to`, that starts at a tensor of integers: `slice(x, length, window,
/// start)`. If the start and `x` share a dim, each index of it has its own start, as with `start` [batch]. A start out
/// of range is moved to the nearest one within range: 0, or the extent of `from` minus that of `to`.
///
/// dims    those of `x`, with `to` in the place of `from`, then other dims of the start
/// layout  if `from` is sharded over an axis, each rank takes the elements that it has, and the slice is a partial sum.
///         The axis must not shard a dim of the start (S05)
/// grad    of `x`: the cotangent, added at the slice. Of the start: none
/// errors  T01 `x` lacks `from`; T02 the start is not an integer; T03 `x` has `to` already, the start has one of them;
///         T05, S03 `to` is longer than `from`
template <handle H, dim_type From, dim_type To, handle Start>
constexpr auto slice(H const& x, From from, To to, Start const& start,
                     detail::slice_line<detail::slice_at, From, To, H, Start> const& where = {}) {
  return detail::record<detail::slice_at, From, To>(
      where,
      [&](builder& b) {
        dim_id const old_dim = detail::dim_of(b, from), new_dim = detail::dim_of(b, to);
        return slice_at(b, x.id, old_dim, new_dim, start.id);
      },
      x, start);
}

/// Overwrites a slice of `x` that starts at a tensor of integers: `put(x, slice(x, length, window, start) * 2, length,
/// window, start)`. If the start and `x` share a dim, each index of it has its own start. A dim of the start that `x`
/// lacks enumerates slices of `part`. Where these overlap, the last one counts, in the order of the dims of `part`. A
/// start out of range is moved as by `slice`. A state is updated in place, as by the other forms of `put`.
///
/// dims    those of `x`, then other dims of `part`, except `to`, that the start lacks. Dims that one of them lacks are
///         broadcast
/// layout  that of `x`. Each rank writes the elements in its part, but along `to` the part is whole on each rank
/// grad    of `x`: the cotangent, zero in the slice. Of `part`: the slice of the cotangent, where it is not overwritten
///         later. Of the start: none
/// errors  T01 `x` lacks `from`, or `part` `to`; T02 the dtypes differ, the start is not an integer; T03 `x` has `to`,
///         `part` has `from`, the start has one of them; T05, R10 `to` is longer than `from`
template <handle H, handle P, dim_type From, dim_type To, handle Start>
constexpr auto put(H const& x, P const& part, From from, To to, Start const& start,
                   detail::slice_line<detail::put_at, From, To, H, P, Start> const& where = {}) {
  return detail::record<detail::put_at, From, To>(
      where,
      [&](builder& b) {
        dim_id const old_dim = detail::dim_of(b, from), new_dim = detail::dim_of(b, to);
        return put_at(b, x.id, part.id, old_dim, new_dim, start.id);
      },
      x, part, start);
}

/// Rejects a number as the start.
template <handle H, handle P, dim_type From, dim_type To, number_like N>
constexpr auto put(
    H const& x, P const&, From, To, N const&,
    checked_line<
        detail::refusal<"T29 put(x, part, length, window, start) starts at a tensor of integers; at a number it "
                        "is put(x, part, length, iota(s, window, mt::i32) + number)",
                        H, P, From, To>> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
