// SPDX-License-Identifier: Apache-2.0
// Overwrites slices or rows of a tensor, for example one position of a key-value cache.
#pragma once

#include "meshtensor/op/detail/lookup.hpp"
#include "meshtensor/op/detail/moved.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

constexpr value_id put(builder& b, value_id x, value_id part, dim_id dim, number_id position);
constexpr value_id put_rows(builder& b, value_id x, value_id part, value_id index, dim_id dim);

struct put_attributes {
  dim_id dim;
  number_id position;  // a row of the table of numbers, or no_id if operand 2 is an index

  static constexpr put_attributes of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), static_cast<number_id>(slots[1])};
  }
  static constexpr put_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{dim, position}}; }
};

/// The rules of `put`, both at a number and at an index tensor.
struct put_rule {
  static constexpr primitive kind = primitive::put;
  static constexpr declaration declares{.operands = {2, 3},
                                        .attributes = {{attribute_kind::dim}, {attribute_kind::place, true}},
                                        .buffer = buffer_use::update,
                                        .text = "along {0}[ at {1}]"};
  static constexpr bool at_index(node const& n) { return n.operands.count == 3; }
  static constexpr void infer(inference& i) {
    shape const &x = i.dims_of(0), &part = i.dims_of(1);
    dim_id const dim = put_attributes::of(i.attributes).dim;
    bool const at_index = i.count == 3;
    i.expect(x.has(dim), "T01 put: the operand lacks the dim", 1, 1);
    if (at_index) {
      i.expect(i.is_integer(2), "T02 put: the index is not an integer", 4);
      i.expect(!part.has(dim) && !i.dims_of(2).has(dim),
               "T03 put: the part or the index has the dim along which it is put", 6, 1);
    } else {
      i.expect(!part.has(dim), "T03 put: the part has the dim along which it is put: slice or rename it", 2, 1);
    }
    i.expect(i[0].type == i[1].type, "T02 the dtypes of the operands differ: cast one of them", 3);
    i.give(i[0].type, united(x, at_index ? without(part, i.dims_of(2)) : part));
  }
  static constexpr char const* verify(module const& m, node const& n) {
    value const &x = m.operand_value(n, 0), &part = m.operand_value(n, 1), &y = m.result_value(n);
    put_attributes const a = put_attributes::of(n);
    shape inner = without(x.dims, shape{}.add(a.dim));
    if (at_index(n)) inner = united(m.operand_value(n, 2).dims, inner);
    bool const fits = part.dims.count == inner.count && inner.includes(part.dims) && y.dims == x.dims;
    return fits && at_index(n) == (a.position == no_id) ? nullptr : "the operands of put do not fit it";
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return at_index(n) ? meshtensor::sharding{} : meshtensor::sharding{}.passes_partial(linearity::joint);
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    builder& b = d.b;
    value_id const dy = d.cotangent(b.m.result(n));
    dtype const type = b.m.values[dy].type;
    shape const inner = b.m.operand_value(n, 1).dims;
    value_id const nothing = constant(b, 0, type);
    put_attributes const a = put_attributes::of(n);
    if (at_index(n)) {
      value_id const index = d.forward(b.m.operand(n, 2));
      d.contribute(b.m.operand(n, 0), put_rows(b, dy, broadcast(b, nothing, inner), index, a.dim));
      value_id const term = gather(b, dy, index, a.dim);
      shape const many = without(inner, b.m.values[dy].dims);
      d.contribute(b.m.operand(n, 1), many.count == 0 ? term : select(b, stays(b, index, a.dim, many), term, nothing));
      return;
    }
    shape one{};
    one.add(a.dim);
    d.contribute(b.m.operand(n, 0), put(b, dy, broadcast(b, nothing, inner), a.dim, a.position));
    value_id const place = iota(b, a.dim, dtype::i64);
    value_id const at = constant(b, number::of_row(&b, a.position), dtype::i64);
    value_id const here = elementwise(b, function::equal, place, at);
    d.contribute(b.m.operand(n, 1), reduce(b, reduction::sum, select(b, here, dy, nothing), one));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &part = e.operands[1], &y = e.results[0];
    if (y.data != x.data) detail::copy_by_name(x, 0, y, 0, no_id, no_id, y.extent);
    if (at_index(e.n))
      return with_element(y.type, [&]<class E>() {
        detail::each_row(y, e.operands[2], part, put_attributes::of(e.n).dim,
                         [&](bool here, std::int64_t to, std::int64_t from) {
                           if (here) y.as<E>()[to] = part.as<E>()[from];
                         });
      });
    std::int64_t const first = start_of(e);
    if (first < 0) return;
    view at = y;
    at.extent[y.find(put_attributes::of(e.n).dim)] = 1;
    detail::copy_by_name(part, 0, at, first, no_id, no_id, at.extent);
  }
  static void require_places(module const& m, node const& n, number_value const* numbers, std::int64_t const* extent) {
    if (at_index(n)) return;
    put_attributes const a = put_attributes::of(n);
    require_within(m, whole_number(numbers[a.position]), a.dim, extent[a.dim]);
  }
  /// errors R10 the dim has no such position
  static void require_within(module const& m, std::int64_t position, dim_id dim, std::int64_t extent) {
    if (position < 0 || position >= extent)
      throw error("R10", {"put at ", position, ", but the dim '", m.dim_name(dim), "' has ", extent, " positions"});
  }
  /// The offset in the result, in elements, of the slice that is overwritten at a number, or -1 if another rank holds
  /// it.
  /// errors R10 the dim has no such position
  static std::int64_t start_of(evaluation const& e) {
    view const& y = e.results[0];
    put_attributes const a = put_attributes::of(e.n);
    int const along = y.find(a.dim);
    std::int64_t const position = whole_number(e.context.numbers[a.position]);
    require_within(e.m, position, a.dim, y.total[along]);
    std::int64_t const local = position - y.origin[along];
    return local >= 0 && local < y.extent[along] ? local * y.stride[along] : -1;
  }

 private:
  /// Whether a row is not overwritten by a later one of equal index. `many` has the dims that only the index has, in
  /// the order in which `part` has them.
  static constexpr value_id stays(builder& b, value_id index, dim_id dim, shape const& many) {
    dtype const type = dtype::i64;
    shape const by = b.m.values[index].dims;
    value_id number = iota(b, many.at[0], type);
    for (int i = 1; i < many.count; ++i) {
      value_id const extent = constant(b, number::of_row(&b, b.add_number(extent_row(many.at[i]))), type);
      number = add(b, multiply(b, number, extent), iota(b, many.at[i], type));
    }
    shape shared = without(by, many);
    value_id const none = broadcast(b, constant(b, -1, type), shared.add(dim));
    value_id const last = put_rows(b, none, broadcast(b, number, united(many, by)), index, dim);
    return elementwise(b, function::equal, gather(b, last, index, dim), number);
  }
};

/// `x` with its slice at a number along `dim` overwritten by `part`. Other dims that one of them lacks are broadcast.
constexpr value_id put(builder& b, value_id x, value_id part, dim_id dim, number_id position) {
  shape const v = b.m.values[x].dims, w = b.m.values[part].dims;
  shape const dims = united(v, w), inner = without(dims, shape{}.add(dim));
  if (!(v == dims)) x = broadcast(b, x, dims);
  if (!(w.count == inner.count && inner.includes(w))) part = broadcast(b, part, inner);
  return add_node<put_rule>(b, {x, part}, put_attributes{dim, position}.packed());
}
/// `x` with its rows [index[i…], rest…] along `dim` overwritten by part[i…, rest…]. An index out of range changes
/// nothing. Of equal ones the last counts, in the order of the dims of `part`. Dims that `index` and `x` both have are
/// matched by name.
constexpr value_id put_rows(builder& b, value_id x, value_id part, value_id index, dim_id dim) {
  shape const v = b.m.values[x].dims, w = b.m.values[part].dims, i = b.m.values[index].dims;
  shape const dims = united(v, without(w, i)), inner = united(i, without(dims, shape{}.add(dim)));
  if (!(v == dims)) x = broadcast(b, x, dims);
  if (!(w.count == inner.count && inner.includes(w))) part = broadcast(b, part, inner);
  return add_node<put_rule>(b, {x, part, index}, put_attributes{dim, no_id}.packed());
}

// ---- public functions ----

/// Overwrites the slice of `x` at `position` along a dim with `part`: `s.update(keys, put(keys, now, length,
/// s.number("position", 0)))`. If a state is updated like this and not read afterwards, it is updated in place, so only
/// the slice is written. The same holds in a loop that slices a state and stacks its next value: `auto [y, next] =
/// repeat(s / "layers", layers, x, keys, body)`, then `s.update(keys, next)`.
///
/// dims    those of `x`, then other dims of `part`, which must lack the dim. Dims that one of them lacks are broadcast
/// layout  that of `x`. Each rank writes the elements in its part
/// grad    of `x`: the cotangent, zero in the slice. Of `part`: the slice of the cotangent
/// errors  T01 `x` lacks the dim; T02 the dtypes differ; T03 `part` has the dim; R10 there is no such position
template <handle X, handle P, dim_type D>
constexpr auto put(X const& x, P const& part, D along, number const& position,
                   detail::rule_line<put_rule, dims<D>, X, P> const& where = {}) {
  return detail::record<put_rule, D>(
      where,
      [&](builder& b) {
        dim_id const dim = detail::dim_of(b, along);
        return put(b, x.id, part.id, dim, detail::add_number_of_call(b, position));
      },
      x, part);
}

/// Overwrites rows of `x` with those of `part` at an index tensor, the opposite of `gather`: [index[i…], rest…] of the
/// result along a dim is part[i…, rest…], and other rows are unchanged. A dim of the index that `x` also has is matched
/// by name. For example, `put(keys, now, length, position)` takes a `position` for each sentence of a batch. A dim that
/// `x` lacks enumerates rows, as in `put(kept, fresh, row, which)`. Of equal indices the last counts, in the order of
/// the dims of `part`. An index out of range changes nothing.
///
/// dims    those of `x`, then dims of `part` that the index lacks. Dims that one of them lacks are broadcast
/// layout  that of `x`. Each rank writes the elements in its part. A dim that enumerates rows must not be sharded
/// grad    of `x`: the cotangent, zero in these rows. Of `part`: these rows of the cotangent, if not overwritten later
/// errors  T01 `x` lacks the dim; T02 the dtypes differ, the index is not an integer; T03 `part` or the index has the
///         dim
template <handle X, handle P, dim_type D, handle Index>
constexpr auto put(X const& x, P const& part, D along, Index const& index,
                   detail::rule_line<put_rule, dims<D>, X, P, Index> const& where = {}) {
  return detail::record<put_rule, D>(
      where, [&](builder& b) { return put_rows(b, x.id, part.id, index.id, detail::dim_of(b, along)); }, x, part,
      index);
}

}  // namespace meshtensor
