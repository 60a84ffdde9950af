// SPDX-License-Identifier: Apache-2.0
// The same elements with dims reordered, renamed, or broadcast. Nothing here computes.
#pragma once

#include "meshtensor/op/reduce.hpp"

namespace meshtensor {

constexpr id transpose(builder& b, id x, shape const& dims) {
  value const v = b.m.values[x];
  if (v.dims == dims) return x;
  b.expect(v.dims.includes(dims) && dims.includes(v.dims), "T03 a transpose keeps the dims of its operand");
  return b.add(primitive::transpose, {x}, v.type, dims);
}
constexpr id rename(builder& b, id x, id from, id to) {
  value const v = b.m.values[x];
  b.expect(v.dims.has(from), "T01 rename: the operand lacks the dim");
  b.expect(!v.dims.has(to), "T03 rename: the operand already has a dim of the new name");
  return b.add(primitive::rename, {x}, v.type, replaced(v.dims, from, to), {{from, to}});
}

namespace detail {

/// Copies `x` into `y` where dim i of `y` is dim `from[i]` of `x`; a dim that `x` lacks (-1) is broadcast.
inline void copy_elements(view const& x, std::int64_t x_first, view const& y, std::int64_t y_first, int const* from,
                          std::int64_t const* extent) {
  walk<2> w;
  for (int i = 0; i < y.count; ++i) {
    w.stride[0][i] = from[i] < 0 ? 0 : x.stride[from[i]];
    w.stride[1][i] = y.stride[i];
    w.extent[w.count++] = extent[i];
  }
  if (w.empty()) return;
  with_element(y.type, [&]<class E>() {
    do y.as<E>()[y_first + w.offset[1]] = x.as<E>()[x_first + w.offset[0]];
    while (w.next());
  });
}
/// Copies by dim names; `from`, a dim of `x`, is called `to` in `y`.
inline void copy_by_name(view const& x, std::int64_t x_first, view const& y, std::int64_t y_first, int from, int to,
                         std::int64_t const* extent) {
  int places[max_dims_of_one];
  for (int i = 0; i < y.count; ++i) places[i] = x.find(y.dim[i] == to ? from : y.dim[i]);
  copy_elements(x, x_first, y, y_first, places, extent);
}

}  // namespace detail

struct broadcast_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    return m.result_value(n).dims.includes(m.operand_value(n, 0).dims) ? nullptr : "broadcast loses a dim";
  }
  static constexpr linearity linear(node const&, int, reduction) { return linearity::alone; }
  static constexpr void gradient(differentiation& d, node const& n) {
    id const x = d.b.m.operand(n, 0);
    d.contribute(x, sum_to(d.b, d.cotangent(d.b.m.result(n)), d.b.m.values[x].dims));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    detail::copy_by_name(e.operands[0], 0, e.results[0], 0, no_id, no_id, e.results[0].extent);
  }
};

struct transpose_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    shape const &x = m.operand_value(n, 0).dims, &y = m.result_value(n).dims;
    return x.includes(y) && y.includes(x) ? nullptr : "a transpose changes the set of dims";
  }
  static constexpr linearity linear(node const&, int, reduction) { return linearity::alone; }
  static constexpr void gradient(differentiation& d, node const& n) {
    d.contribute(d.b.m.operand(n, 0), d.cotangent(d.b.m.result(n)));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    broadcast_rule::evaluate(e);
  }
};

struct rename_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    return replaced(m.operand_value(n, 0).dims, n.attribute[0], n.attribute[1]) == m.result_value(n).dims
               ? nullptr
               : "a renamed result has other dims";
  }
  static constexpr linearity linear(node const&, int, reduction) { return linearity::alone; }
  /// The name, in the result, of a dim of the operand.
  static constexpr int relabel(module const&, node const& n, int dim) {
    return dim == n.attribute[0] ? n.attribute[1] : dim;
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    d.contribute(d.b.m.operand(n, 0), rename(d.b, d.cotangent(d.b.m.result(n)), n.attribute[1], n.attribute[0]));
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    detail::copy_by_name(e.operands[0], 0, e.results[0], 0, e.n.attribute[0], e.n.attribute[1], e.results[0].extent);
  }
};

// ---- what users call ----

namespace detail {
constexpr shape renamed_rule(shape const& x, shape const& from, shape const& to) {
  return replaced(x, from.at[0], to.at[0]);
}

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
}  // namespace detail

/// Reorders the dims of a tensor: `transpose(x, to(length, batch, d_model))`.
///
/// dims    those of `to`
/// layout  each dim keeps its axes; partial reductions pass through
/// grad    the cotangent
/// errors  T03 `to` does not name exactly the dims of `x`
template <handle H, dim_type... D>
constexpr auto transpose(H const& x, to_dims<D...>, line const& where = {}) {
  if constexpr (!detail::has_dims<H, D...> || !detail::has_only_dims<H, D...>)
    static_assert(
        is_valid<detail::wrong<"T03 transpose: the result does not name exactly the dims of the operand", H, D...>>);
  if constexpr (detail::has_dims<H, D...> && detail::has_only_dims<H, D...>) {
    detail::recording r(x.owner, where);
    return detail::wrap<H::type, dims<D...>>(r.b, transpose(r.b, x.id, detail::shape_of(r.b, dims<D...>{})));
  } else {
    return handle_t<H::type, dims<D...>>(x.owner, x.id);
  }
}

/// Rejects a call by position, or without `to`.
template <handle H, class... D>
constexpr auto transpose(H const& x, D const&...) {
  static_assert(
      is_valid<detail::wrong<"T10 transpose names the dims of its result: transpose(x, mt::to(b, a)); operands "
                             "meet by name, so it is seldom needed",
                             H>>);
  return x;
}

/// Broadcasts a tensor along the dims that it lacks: `broadcast(bias, to(batch, d_ff))`. Elementwise operations
/// broadcast by themselves.
///
/// dims    those of `to`
/// grad    the cotangent, summed over the new dims
/// errors  T03 `to` leaves a dim of `x` out
template <handle H, dim_type... D>
constexpr auto broadcast(H const& x, to_dims<D...>, line const& where = {}) {
  if constexpr (!detail::has_only_dims<H, D...>)
    static_assert(is_valid<detail::wrong<"T03 broadcast: the result leaves out a dim of the operand", H, D...>>);
  detail::recording r(x.owner, where);
  shape const wanted = detail::shape_of(r.b, dims<D...>{});
  return detail::wrap<H::type, dims<D...>>(r.b,
                                           r.b.m.values[x.id].dims == wanted ? x.id : broadcast(r.b, x.id, wanted));
}

/// Rejects a call without `to`.
template <handle H, dim_type... D>
constexpr auto broadcast(H const& x, D const&...) {
  static_assert(
      is_valid<detail::wrong<"T10 broadcast names all dims of its result: broadcast(x, mt::to(a, b))", H, D...>>);
  return x;
}

/// Renames dim `from` of a tensor to `to`: `rename(x, length, memory)`, so that every element along `length` can be
/// combined with every other one. Both dims have one extent; if one is bound at start-up, it is inferred from the
/// other.
///
/// dims    those of `x`, `to` in the place of `from`
/// errors  T01 `x` lacks `from`; T03 `x` has `to` already
template <handle H, dim_type From, dim_type To>
constexpr auto rename(H const& x, From from, To to, line const& where = {}) {
  if constexpr (!has_dim<H, From>)
    static_assert(is_valid<detail::wrong<"T01 rename: the operand lacks the dim", H, From>>);
  if constexpr (!detail::lacks_dim<H, To>)
    static_assert(is_valid<detail::wrong<"T03 rename: the operand already has a dim of the new name", H, To>>);
  if constexpr (has_dim<H, From> && detail::lacks_dim<H, To>) {
    detail::recording r(x.owner, where);
    id const old_dim = detail::dim_id(r.b, from), new_dim = detail::dim_id(r.b, to);
    using result = result_dims_t<detail::renamed_rule, typename H::dim_list, dims<From>, dims<To>>;
    return detail::wrap<H::type, result>(r.b, rename(r.b, x.id, old_dim, new_dim));
  } else {
    return x;
  }
}

}  // namespace meshtensor
