// SPDX-License-Identifier: Apache-2.0
// Records the body of an each for one index, with marks where tensors enter and leave it.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "meshtensor/graph/variables.hpp"
#include "meshtensor/op/control/loop_types.hpp"
#include "meshtensor/op/detail/structure.hpp"
#include "meshtensor/op/gradient.hpp"

namespace meshtensor {

/// How the variables of the indices of an each start: each with random numbers of its own, or all with the same.
enum class each_start : std::uint8_t { apart, equal };
/// The variables of all indices start with the same numbers, for example those of replicas.
inline constexpr each_start start_equal = each_start::equal;

}  // namespace meshtensor

namespace meshtensor::detail {

/// Adds a node with the values of all indices of an each.
constexpr value_id shown(builder& b, value_id v, dim_id dim) {
  return add_node<show_rule>(b, {v}, view_attributes{dim, false}.packed());
}

/// Reports G45 unless an each over the dim is open.
constexpr void require_each(builder& b, dim_id dim, char const* what) {
  if (b.find_each(dim) >= 0) return;
  diagnostic d{};
  b.note(d << "G45 " << what << ": no each or map over '" << b.m.dim_name(dim)
           << "' is open here: it is called in the body of one, with that dim");
}

/// A result as the body of an each makes it.
template <handle H>
constexpr H used(builder& b, H const& x) {
  return H(&b, b.use(x.id));
}
template <dtype T>
constexpr gradients<T> used(builder& b, gradients<T> const& g) {
  gradients<T> all{&b, g.parameters, {}};
  for (value_id v : ids(g.values)) all.values.add(b.use(v));
  return all;
}
/// Adds a node with the values of all indices of a result, which may not have the dim already.
constexpr value_id shown_result(builder& b, value_id v, dim_id dim) {
  value const& given = b.m.values[v];
  if (!given.dims.has(dim)) return shown(b, v, dim);
  diagnostic d{};
  b.note(add_type(d << "T44 the body of each and map returns ", b.m, given.type, given.dims)
         << ", which has their dim '" << b.m.dim_name(dim) << "' already: reduce over the dim, or rename it");
  return v;
}
/// The same outside, for all indices.
template <class D, handle H>
constexpr stacked_t<H, D> shown_outside(builder& b, dim_id dim, H const& x) {
  return stacked_t<H, D>(&b, shown_result(b, x.id, dim));
}
template <class D, dtype T>
constexpr gradients<T> shown_outside(builder& b, dim_id dim, gradients<T> const& g) {
  gradients<T> all{&b, {}, {}};
  for (int i = 0; i < g.size(); ++i) {
    all.parameters.add(read(b, variable_read(b, g.parameters.at[i])));
    all.values.add(shown_result(b, g.values.at[i], dim));
  }
  return all;
}

/// Ends an each: the results of its body for all indices.
template <class D, class Given>
constexpr auto shown_all(builder& b, dim_id dim, Given const& given) {
  auto const inside = std::apply([&](auto const&... x) { return std::tuple{used(b, x)...}; }, as_tuple(given));
  b.end_each();
  return as_given<Given>(
      std::apply([&](auto const&... x) { return std::tuple{shown_outside<D>(b, dim, x)...}; }, inside));
}

/// The handles of operands as one index sees them.
template <class D, class... H>
constexpr std::tuple<sliced_t<H, D>...> views(builder& b, id_list<> const& operands, std::tuple<H...> const&) {
  id_list<> seen{};
  for (int i = 0; i < operands.count; ++i) seen.add(b.view(b.each_count - 1, operands.at[i]));
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple<sliced_t<H, D>...>{sliced_t<H, D>(&b, seen.at[I])...};
  }(std::index_sequence_for<H...>{});
}

template <bool Shares, class D, class S, class Line, class Xs, class Body>
constexpr auto record_each(S const& s, Line const& where, Xs const& operands, Body const& body,
                           each_start start = each_start::apart) {
  builder& b = s.graph_builder();
  if constexpr (is_refused<Line>) {
    b.give_up();
    return no_result{};
  } else {
    auto const here = s.enter();
    auto const xs = as_tuple(operands);
    dim_id const dim = dim_of(b, D{});
    recording const r(&b, where);
    site_id const site = b.site;
    if (b.find_each(dim) >= 0) {
      diagnostic d{};
      b.note(d << "G42 each and map over '" << b.m.dim_name(dim)
               << "' stand within another one over this dim: use another dim");
    }
    id_list<> outside = ids_of(xs);
    for (int i = 0; i < outside.count; ++i) outside.at[i] = b.use(outside.at[i]);
    b.begin_each(dim, Shares, start == each_start::equal);
    auto const inside = views<D>(b, outside, xs);
    auto const call = [&](auto const&... x) { return body(s, x...); };
    if constexpr (std::is_void_v<decltype(std::apply(call, inside))>) {
      std::apply(call, inside);
      b.site = site;
      b.end_each();
    } else {
      auto const given = std::apply(call, inside);
      b.site = site;
      return shown_all<D>(b, dim, given);
    }
  }
}

template <class D, class H, class Line>
constexpr auto record_across(H const& x, Line const& where) {
  builder& b = *x.owner;
  if constexpr (is_refused<Line>) return given_up(x);
  else {
    recording const r(&b, where);
    dim_id const dim = dim_of(b, D{});
    require_each(b, dim, "across");
    return stacked_t<H, D>(&b, shown(b, x.id, dim));
  }
}

template <class D, class H, class Line>
constexpr auto record_own(H const& x, Line const& where) {
  builder& b = *x.owner;
  if constexpr (is_refused<Line>) return given_up(x);
  else {
    recording const r(&b, where);
    dim_id const dim = dim_of(b, D{});
    require_each(b, dim, "own");
    int const which = b.find_each(dim);
    value_id const seen = b.use(which < 0 ? x.id : b.slice(which, x.id));
    return sliced_t<H, D>(&b, seen);
  }
}

}  // namespace meshtensor::detail
