// SPDX-License-Identifier: Apache-2.0
// Parts of a dim: slice takes a range, pad surrounds with a value, concat joins two. Each names a new dim, because the
// extent changes.
#pragma once

#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

constexpr id slice(builder& b, id x, id from, id to, id first);
constexpr id pad(builder& b, id x, id from, id to, id first, id around);

struct slice_rule {
  static constexpr primitive kind = primitive::slice;
  static constexpr declaration declares{
      .attributes = {{attribute_kind::dim}, {attribute_kind::dim}, {attribute_kind::number}},
      .buffer = buffer_use::window,
      .text = "{0} -> {1} from {2}"};
  static constexpr void infer(inference& i) {
    shape const& x = i.dims_of(0);
    id const from = i.attributes[0], to = i.attributes[1];
    i.expect(x.has(from), "T01 slice: the operand lacks the dim", 1, 1);
    i.expect(from != to, "T03 slice: a part has another extent, so it needs another dim", 0, 2);
    i.expect(!x.has(to), "T03 slice: the operand already has a dim of the new name", 1, 2);
    i.give(i[0].type, replaced(x, from, to));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return meshtensor::sharding{}
        .keeps_whole(n.attribute[0])
        .keeps_whole(n.attribute[1])
        .passes_partial(linearity::alone);
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    id const dy = d.cotangent(d.b.m.result(n));
    d.contribute(d.b.m.operand(n, 0), pad(d.b, dy, n.attribute[1], n.attribute[0], n.attribute[2], d.b.literal(0)));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    detail::copy_by_name(x, start_of(e), y, 0, e.n.attribute[0], e.n.attribute[1], y.extent);
  }
  /// The offset in its operand, in elements, of the slice.
  template <class = lazy>
  static std::int64_t start_of(evaluation const& e) {
    view const& x = e.operands[0];
    int const along = x.find(e.n.attribute[0]);
    auto const first = static_cast<std::int64_t>(e.number(2));
    if (first < 0 || first + e.results[0].extent[along] > x.extent[along])
      throw error("R10", {"a slice of '", e.m.dim_name(e.n.attribute[0]), "' from ", first, " on, ",
                          e.results[0].extent[along], " long, reaches beyond its extent, ", x.extent[along]});
    return first * x.stride[along];
  }
};

struct pad_rule {
  static constexpr primitive kind = primitive::pad;
  static constexpr declaration declares{
      .attributes = {{attribute_kind::dim}, {attribute_kind::dim}, {attribute_kind::number}, {attribute_kind::number}},
      .text = "{0} -> {1} at {2} around {3}"};
  static constexpr void infer(inference& i) {
    shape const& x = i.dims_of(0);
    id const from = i.attributes[0], to = i.attributes[1];
    i.expect(x.has(from), "T01 pad: the operand lacks the dim", 1, 1);
    i.expect(from != to, "T03 pad: the result has another extent, so it needs another dim", 0, 2);
    i.expect(!x.has(to), "T03 pad: the operand already has a dim of the new name", 1, 2);
    i.give(i[0].type, replaced(x, from, to));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return meshtensor::sharding{}.keeps_whole(n.attribute[0]).keeps_whole(n.attribute[1]);
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    id const dy = d.cotangent(d.b.m.result(n));
    d.contribute(d.b.m.operand(n, 0), slice(d.b, dy, n.attribute[1], n.attribute[0], n.attribute[2]));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    std::int64_t const first = start_of(e);
    walk<1> w;
    for (int i = 0; i < y.count; ++i) w.stride[0][i] = y.stride[i], w.extent[w.count++] = y.extent[i];
    with_element(y.type, [&]<class E>() {
      E const around = element_of<E>(e.number(3));
      if (!w.empty()) do
          y.as<E>()[w.offset[0]] = around;
        while (w.next());
    });
    detail::copy_by_name(x, 0, y, first, e.n.attribute[0], e.n.attribute[1], x.extent);
  }
  /// The offset in its result, in elements, of the padded operand.
  template <class = lazy>
  static std::int64_t start_of(evaluation const& e) {
    view const& y = e.results[0];
    int const along = y.find(e.n.attribute[1]);
    auto const first = static_cast<std::int64_t>(e.number(2));
    if (first < 0 || first + e.operands[0].extent[along] > y.extent[along])
      throw error(
          "R10", {"'", e.m.dim_name(e.n.attribute[0]), "', ", e.operands[0].extent[along], " long, padded from ", first,
                  " on, reaches beyond the extent of '", e.m.dim_name(e.n.attribute[1]), "', ", y.extent[along]});
    return first * y.stride[along];
  }
};

struct concat_rule {
  static constexpr primitive kind = primitive::concat;
  static constexpr declaration declares{
      .operands = {2, 2},
      .attributes = {{attribute_kind::dim}, {attribute_kind::dim}, {attribute_kind::dim}},
      .text = "{0} + {1} -> {2}"};
  static constexpr void infer(inference& i) {
    shape const &x = i.dims_of(0), &y = i.dims_of(1);
    id const dx = i.attributes[0], dy = i.attributes[1], to = i.attributes[2];
    i.expect(x.has(dx) && y.has(dy), "T01 concat: an operand lacks its dim", 3, 3);
    i.common_type();
    i.expect(dx == dy || !(x.has(dy) || y.has(dx)),
             "T03 concat: an operand has the dim along which the other one is joined: rename it", 3, 3);
    i.expect(!(x.has(to) || y.has(to)), "T03 concat: an operand already has a dim of the new name", 3, 4);
    i.give(i[0].type, united(replaced(x, dx, to), replaced(y, dy, to)));
  }
  static constexpr char const* verify(module const& m, node const& n) {
    shape const &x = m.operand_value(n, 0).dims, &y = m.operand_value(n, 1).dims, &z = m.result_value(n).dims;
    return replaced(x, n.attribute[0], n.attribute[2]) == z && replaced(y, n.attribute[1], n.attribute[2]) == z
               ? nullptr
               : "the operands of concat do not fit its result";
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return meshtensor::sharding{}
        .keeps_whole(n.attribute[0])
        .keeps_whole(n.attribute[1])
        .keeps_whole(n.attribute[2])
        .passes_partial(linearity::together);
  }
  static constexpr same_elements elements(module const&, node const& n) {
    return {shape{}.add(n.attribute[0]).add(n.attribute[1]), shape{}.add(n.attribute[2]), true, "concatenated into"};
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    id const dy = d.cotangent(d.b.m.result(n));
    id const behind = d.b.add_number(extent_row(n.attribute[0]));
    d.contribute(d.b.m.operand(n, 0), slice(d.b, dy, n.attribute[2], n.attribute[0], d.b.literal(0)));
    d.contribute(d.b.m.operand(n, 1), slice(d.b, dy, n.attribute[2], n.attribute[1], behind));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.operands[1], &z = e.results[0];
    int const along = z.find(e.n.attribute[2]);
    detail::copy_by_name(x, 0, z, 0, e.n.attribute[0], e.n.attribute[2], x.extent);
    detail::copy_by_name(y, 0, z, x.extent[along] * z.stride[along], e.n.attribute[1], e.n.attribute[2], y.extent);
  }
};

constexpr id slice(builder& b, id x, id from, id to, id first) {
  return add_node<slice_rule>(b, {x}, {{from, to, first}});
}
constexpr id pad(builder& b, id x, id from, id to, id first, id around) {
  return add_node<pad_rule>(b, {x}, {{from, to, first, around}});
}
/// `x` along `dx`, then `y` along `dy`, as one tensor along `to`; other dims that one of them lacks are broadcast.
constexpr id concat(builder& b, id x, id dx, id y, id dy, id to) {
  shape const v = b.m.values[x].dims, w = b.m.values[y].dims;
  shape const dims = united(replaced(v, dx, to), replaced(w, dy, to));
  shape const first = replaced(dims, to, dx), second = replaced(dims, to, dy);
  if (!(v == first)) x = broadcast(b, x, first);
  if (!(w == second)) y = broadcast(b, y, second);
  return add_node<concat_rule>(b, {x, y}, {{dx, dy, to}});
}

// ---- what users call ----

/// Takes the elements `first`, `first` + 1, … of `x` along `from`, as many as `to` has: `slice(x, length, past, 1)`.
///
/// dims    those of `x`, `to` in the place of `from`
/// layout  both dims must be whole; a sharded one is gathered first
/// grad    the cotangent, padded with zeros
/// errors  T01 `x` lacks `from`; T03 `x` has `to` already; R10 the slice reaches beyond the extent
template <handle H, dim_type From, dim_type To>
constexpr auto slice(H const& x, From from, To to, number const& first, line const& where = {}) {
  return detail::record<slice_rule, From, To>(
      where,
      [&](builder& b) {
        id const old_dim = detail::dim_id(b, from), new_dim = detail::dim_id(b, to);
        return slice(b, x.id, old_dim, new_dim, b.add_number(first));
      },
      x);
}

/// Pads `x` along `from`: its elements become the elements `first`, `first` + 1, … along `to`; all others are `around`.
///
/// dims    those of `x`, `to` in the place of `from`
/// layout  both dims must be whole; a sharded one is gathered first
/// grad    the slice of the cotangent
/// errors  T01 `x` lacks `from`; T03 `x` has `to` already; R10 `x` reaches beyond the extent of `to`
template <handle H, dim_type From, dim_type To>
constexpr auto pad(H const& x, From from, To to, number const& first, number const& around = 0,
                   line const& where = {}) {
  return detail::record<pad_rule, From, To>(
      where,
      [&](builder& b) {
        id const old_dim = detail::dim_id(b, from), new_dim = detail::dim_id(b, to);
        id const first_number = b.add_number(first), value_around = b.add_number(around);
        return pad(b, x.id, old_dim, new_dim, first_number, value_around);
      },
      x);
}

/// Concatenates `x` along `dx` and `y` along `dy` into one tensor along `to`: `mt::dim<"to", dx + dy>`. Other dims that
/// one of them lacks are broadcast.
///
/// dims    those of `x` with `to` for `dx`, then other dims of `y`
/// layout  the three dims must be whole; a sharded one is gathered first
/// grad    the two slices of the cotangent
/// errors  T01 an operand lacks its dim; T02 the dtypes differ; T03 an operand has `to` already
template <handle X, dim_type DX, handle Y, dim_type DY, dim_type To>
constexpr auto concat(X const& x, DX dx, Y const& y, DY dy, To to, line const& where = {}) {
  return detail::record<concat_rule, DX, DY, To>(
      where,
      [&](builder& b) {
        id const first = detail::dim_id(b, dx), second = detail::dim_id(b, dy), both = detail::dim_id(b, to);
        return concat(b, x.id, first, y.id, second, both);
      },
      x, y);
}

/// Rejects a call with numbers in the place of dims.
template <handle H, class From, class... More>
requires(!dim_type<From> || sizeof...(More) < 2 || !dim_type<typename detail::nth<0, More..., H>::type>)  //
constexpr auto slice(H const& x, From const&, More const&...) {
  static_assert(
      is_valid<detail::wrong<"T10 slice(x, length, part, first) takes a part along one dim: `part` is a dim of its "
                             "own, mt::dim<\"part\", 10>, and `first` a number",
                             H, From, More...>>);
  return x;
}
template <class X, class Y, class... More>
requires(handle<X> && (handle<Y> || sizeof...(More) != 3))
constexpr auto concat(X const& x, Y const&, More const&...) {
  static_assert(
      is_valid<detail::wrong<"T10 concat(x, before, y, after, all) joins two tensors along a dim of each; `all` is "
                             "a dim as long as both, mt::dim<\"all\", before + after>",
                             X, Y, More...>>);
  return x;
}

}  // namespace meshtensor
