// SPDX-License-Identifier: Apache-2.0
// Merges several dims into one, and splits one into several.
#pragma once

#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

struct reshape_attributes {
  dim_id joined;  // the dim that several are merged into, or that is split into several

  static constexpr reshape_attributes of(id const* slots) { return {static_cast<dim_id>(slots[0])}; }
  static constexpr reshape_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{joined}}; }
};

/// Merges neighbouring dims into one, or splits one dim into several.
struct reshape_rule {
  static constexpr bool merges(module const& m, node const& n) {
    return m.result_value(n).dims.has(reshape_attributes::of(n).joined);
  }
  static constexpr shape parts(module const& m, node const& n) {
    shape const &x = m.operand_value(n, 0).dims, &y = m.result_value(n).dims;
    return merges(m, n) ? without(x, y) : without(y, x);
  }
  static constexpr primitive kind = primitive::reshape;
  static constexpr declaration declares{.attributes = {{attribute_kind::dim}}, .buffer = buffer_use::shared};
  static constexpr void infer(inference& i) {
    shape const& x = i.dims_of(0);
    dim_id const joined = reshape_attributes::of(i.attributes).joined;
    bool const merges = i.dims.has(joined);
    shape const &many = merges ? x : i.dims, &few = merges ? i.dims : x;
    i.expect(few.has(joined) && expanded(few, joined, without(many, few)) == many,
             "T03 a reshape merges or splits neighbouring dims", 1, 1);
    i.give(i[0].type, i.dims);
  }
  // Shards of the joined dim are shards of its major part, so the other parts must not be sharded.
  static constexpr meshtensor::sharding sharding(module const& m, node const& n) {
    shape const all = parts(m, n);
    int const major = all.at[0], joined = reshape_attributes::of(n).joined;
    meshtensor::sharding s{};
    for (int i = 1; i < all.count; ++i) s.keeps_whole(all.at[i]);
    (merges(m, n) ? s.renamed(major, joined) : s.renamed(joined, major));
    return s.passes_partial(linearity::separate);
  }
  static constexpr same_elements elements(module const& m, node const& n) {
    shape const one = shape{}.add(reshape_attributes::of(n).joined);
    return merges(m, n) ? same_elements{parts(m, n), one, false, "merged into"}
                        : same_elements{one, parts(m, n), false, "split into"};
  }
  /// Row-major order is kept, so two reshapes cancel if the dims agree.
  static constexpr value_id simplify(auto& s, node& n) {
    value_id const x = s.m.operand(n, 0);
    bool const cancels = s.made_by(x, primitive::reshape) && s.alike(s.m.operand(s.maker(x), 0), s.m.result(n));
    return cancels ? s.m.operand(s.maker(x), 0) : no_id;
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const x = d.b.m.operand(n, 0), dy = d.cotangent(d.b.m.result(n));
    value const v = d.b.m.values[x];
    d.contribute(x, add_node<reshape_rule>(d.b, {dy}, reshape_attributes::of(n).packed(), {v.type, v.dims}));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    walk<1> from, to;
    for (int i = 0; i < x.count; ++i) from.stride[0][i] = x.stride[i], from.extent[from.count++] = x.extent[i];
    for (int i = 0; i < y.count; ++i) to.stride[0][i] = y.stride[i], to.extent[to.count++] = y.extent[i];
    if (from.empty()) return;
    with_element(y.type, [&]<class E>() {
      do y.as<E>()[to.offset[0]] = x.as<E>()[from.offset[0]];
      while (from.next() && to.next());
    });
  }
};

/// Merges dims into one, in which the last of `parts` varies fastest. They are transposed first if they are not
/// neighbours.
constexpr value_id merge(builder& b, value_id x, shape const& parts, dim_id joined) {
  value const v = b.m.values[x];
  int const first = v.dims.find(parts.at[0]);
  b.expect(first >= 0 && v.dims.includes(parts), "T01 merge: the operand lacks a dim");
  shape dims{}, ordered{};
  for (int i = 0; i < v.dims.count; ++i) {
    if (i == first) dims.add(joined), ordered = united(ordered, parts);
    if (!parts.has(v.dims.at[i])) dims.add(v.dims.at[i]), ordered.add(v.dims.at[i]);
  }
  return add_node<reshape_rule>(b, {transpose(b, x, ordered)}, reshape_attributes{joined}.packed(), {v.type, dims});
}
constexpr value_id split(builder& b, value_id x, dim_id joined, shape const& parts) {
  value const v = b.m.values[x];
  b.expect(v.dims.has(joined), "T01 split: the operand lacks the dim");
  return add_node<reshape_rule>(b, {x}, reshape_attributes{joined}.packed(), {v.type, expanded(v.dims, joined, parts)});
}

// ---- public functions ----

namespace detail {
constexpr shape merged_rule(shape const& x, shape const& parts, shape const& joined) {
  shape r{};
  for (int i = 0; i < x.count; ++i) {
    if (x.at[i] == parts.at[0]) r.add(joined.at[0]);
    if (!parts.has(x.at[i])) r.add(x.at[i]);
  }
  return r;
}
constexpr shape split_rule(shape const& x, shape const& joined, shape const& parts) {
  return expanded(x, joined.at[0], parts);
}

template <handle H, dim_type Joined, dim_type... Parts>
consteval auto merge_finding() {
  if constexpr (sizeof...(Parts) == 0) return refusal<"T26 merge: name the dims that become one", H>{};
  else if constexpr (!has_dims<H, Parts...>) return refusal<"T01 merge: the operand lacks a dim", H, Parts...>{};
  else if constexpr (!lacks_dim<H, Joined>)
    return refusal<"T03 merge: the operand already has a dim of the new name", H, Joined>{};
  else return no_error{};
}
template <handle H, dim_type Joined, dim_type... Parts>
consteval auto split_finding() {
  if constexpr (sizeof...(Parts) == 0) return refusal<"T26 split: name the dims that it becomes", H>{};
  else if constexpr (!has_dim<H, Joined>) return refusal<"T01 split: the operand lacks the dim", H, Joined>{};
  else if constexpr (!(lacks_dim<H, Parts> && ...))
    return refusal<"T03 split: the operand already has a dim of a new name", H, Parts...>{};
  else return no_error{};
}
}  // namespace detail

/// Merges two or more dims into one, in which the last of them varies fastest: `merge(x, to(heads, d_head), joined)`,
/// where `joined` is `mt::dim<"joined", heads * d_head>`.
///
/// dims    those of `x`, with `joined` in the place of the first part
/// layout  if the first part is sharded, `joined` is sharded in the same way. The other parts must not be sharded
/// grad    the cotangent, split
/// errors  T01 `x` lacks a part; T03 `x` has `joined` already
template <handle H, dim_type... Parts, dim_type Joined>
constexpr auto merge(H const& x, to_dims<Parts...>, Joined joined,
                     checked_line<decltype(detail::merge_finding<H, Joined, Parts...>())> const& where = {}) {
  if constexpr (nothing_found<decltype(detail::merge_finding<H, Joined, Parts...>())>) {
    detail::recording r(x.owner, where);
    shape const parts = detail::shape_of(r.b, dims<Parts...>{});
    using result = result_dims_t<detail::merged_rule, typename H::dim_list, dims<Parts...>, dims<Joined>>;
    return detail::wrap<H::type, result>(r.b, merge(r.b, x.id, parts, detail::dim_of(r.b, joined)));
  } else {
    return detail::given_up(x);
  }
}

/// Splits one dim into several, of which the last one varies fastest: `split(x, joined, to(heads, d_head))`.
///
/// dims    those of `x`, with the parts in the place of `joined`
/// layout  if `joined` is sharded, the first part is sharded in the same way
/// grad    the cotangent, merged
/// errors  T01 `x` lacks `joined`; T03 `x` has a part already
template <handle H, dim_type Joined, dim_type... Parts>
constexpr auto split(H const& x, Joined joined, to_dims<Parts...>,
                     checked_line<decltype(detail::split_finding<H, Joined, Parts...>())> const& where = {}) {
  if constexpr (nothing_found<decltype(detail::split_finding<H, Joined, Parts...>())>) {
    detail::recording r(x.owner, where);
    shape const parts = detail::shape_of(r.b, dims<Parts...>{});
    using result = result_dims_t<detail::split_rule, typename H::dim_list, dims<Joined>, dims<Parts...>>;
    return detail::wrap<H::type, result>(r.b, split(r.b, x.id, detail::dim_of(r.b, joined), parts));
  } else {
    return detail::given_up(x);
  }
}

/// Rejects the name that other libraries have for a change of shape.
template <handle H, detail::argument A = detail::none_given, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given, detail::argument D = detail::none_given>
constexpr auto reshape(H const& x, A const& = {}, B const& = {}, C const& = {}, D const& = {},
                       detail::refused_call<detail::has_no_shape, H, A, B, C, D> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
