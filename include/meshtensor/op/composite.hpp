// SPDX-License-Identifier: Apache-2.0
// Composites: named regions that a device may replace by its own implementation. A composite may have its own gradient.
#pragma once

#include "meshtensor/op/detail/handles.hpp"

namespace meshtensor {
namespace detail {
struct no_gradient {};

/// The number of leading results whose cotangents a gradient function takes: the largest number with which it can be
/// called. If the function cannot be called at all, all cotangents are passed, so that the compiler says why.
template <int Taken, class Gradient, class... H, class... R>
constexpr int cotangents_of(std::tuple<H...> const* operands, std::tuple<R...> const* results) {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::is_invocable_v<Gradient const&, H const&..., R const&...,
                               std::tuple_element_t<I, std::tuple<R...>> const&...>;
  }(std::make_index_sequence<Taken>{})
             ? Taken
             : [&] {
                 if constexpr (Taken > 1) return cotangents_of<Taken - 1, Gradient>(operands, results);
                 else return static_cast<int>(sizeof...(R));
               }();
}

/// Reports G25 if a composite with its own gradient uses a tensor that is not one of its operands.
constexpr void used_from_outside(builder& b, name const& label, frame const& f, char const* part) {
  if (f.invariants.count == 0) return;
  value const& v = b.m.values[f.invariants.at[0]];
  diagnostic d{};
  add_type(d << "G25 " << part << "the composite '" << label << "' uses a tensor from outside, ", b.m, v.type, v.dims);
  b.note(add_made(d, b.m, f.invariants.at[0]) << ": pass it as one more operand");
}

template <class Body, class Gradient, class... H>
constexpr auto record_composite(builder& b, name const& label, Body const& body, Gradient const& gradient,
                                H const&... operands) {
  site_id const site = b.site;
  name_id const called = b.intern(label);
  id const around = b.called;
  if (around == 0) b.called = static_cast<id>(called + 1);
  b.begin_frame(region_kind::composite, called, no_id, true);
  std::tuple const inner{H(&b, b.add_carry(operands.id))...};
  auto const made = std::apply([&](auto const&... h) { return body(h...); }, inner);
  id_list<> results{};
  id_list<> const given = ids_of(as_tuple(made));
  for (int i = 0; i < given.count; ++i) results.add(b.use(given.at[i]));
  frame const f = b.end_frame(results);
  id_list<2, region_id> owned{};
  owned.add(f.region);
  if constexpr (!std::is_same_v<Gradient, no_gradient>) {
    b.begin_frame(region_kind::gradient, called, no_id, true);
    std::tuple const again{H(&b, b.add_carry(operands.id))...};
    auto const like = [&](auto const& h) {
      value const v = b.m.values[h.id];
      value_id const a = b.add_argument(v, v.dims);
      b.frames[b.depth - 1].carries.add(a);
      return rewrapped(b, h, a);
    };
    auto const each = as_tuple(made);
    using all = std::remove_const_t<decltype(each)>;
    constexpr int taken = cotangents_of<static_cast<int>(std::tuple_size_v<all>), Gradient>(
        static_cast<std::tuple<H...> const*>(nullptr), static_cast<all const*>(nullptr));
    auto const seen = std::apply([&](auto const&... h) { return std::tuple{like(h)...}; }, each);
    auto const cotangents = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple{like(std::get<I>(each))...};
    }(std::make_index_sequence<taken>{});
    auto const terms =
        as_tuple(std::apply([&](auto const&... h) { return gradient(h...); }, std::tuple_cat(again, seen, cotangents)));
    static_assert(std::tuple_size_v<decltype(terms)> == sizeof...(H),
                  "meshtensor T11: a gradient must return one cotangent for each operand");
    [&]<class... Term>(std::tuple<Term...> const*) {
      if constexpr (sizeof...(Term) == sizeof...(H))
        static_assert(
            (may_have_same_dims<Term, H> && ...),
            "meshtensor T03: a gradient gives a cotangent with other dims than the operand has: sum_like(cotangent, "
            "operand) sums it over those that the operand lacks");
    }(&terms);
    id_list<> out{};
    id_list<> const term_ids = ids_of(terms), argument_ids = ids_of(again);
    for (int i = 0; i < term_ids.count; ++i)
      out.add(aligned(b, b.use(term_ids.at[i]), b.m.values[argument_ids.at[i]].dims, "a term of a composite's gradient",
                      "the operand"));
    frame const g = b.end_frame(out);
    used_from_outside(b, label, f, "");
    used_from_outside(b, label, g, "the gradient of ");
    owned.add(g.region);
  }
  b.site = site, b.called = around;
  id_list<> all{};
  (all.add(operands.id), ...);
  all.add_all(f.invariants);
  node_id const n =
      b.add_node(primitive::composite, 0, all, composite_attributes{called, sizeof...(H), false}.packed());
  b.m.nodes[n].regions = b.add_links(owned);
  auto const wrapped = std::apply(
      [&](auto const&... h) { return std::tuple{rewrapped(b, h, b.add_result(n, h.type, b.m.values[h.id].dims))...}; },
      as_tuple(made));
  return as_given<std::remove_cvref_t<decltype(made)>>(wrapped);
}
}  // namespace detail

/// A named region. Its body is the definition, the reference and the fallback, because a device may have its own
/// implementation. Devices recognize a composite by its name. Names that begin with `nn.` are the library's own.
template <class Body, handle... H>
constexpr auto composite(name const& label, Body const& body, H const&... operands) {
  return detail::record_composite(*detail::owner_of(operands...), label, body, detail::no_gradient{}, operands...);
}
/// A composite with its own gradient: `gradient(operands…, results…, cotangents…)` returns the operands' cotangents. It
/// may take the cotangents of the leading results only. The body returns the remaining results in order to save them
/// for the gradient. If a second derivative needs the cotangents of these, the body is differentiated. A cotangent is
/// the sum over all uses of the result. This matters if the gradient is not linear in the cotangent. `sum_like(term,
/// operand)` sums over the dims along which an operand was broadcast.
///
/// grad    of any order, because `gradient` is itself differentiated
template <class Body, class Gradient, handle... H>
constexpr auto composite_with_gradient(name const& label, Body const& body, Gradient const& gradient,
                                       H const&... operands) {
  return detail::record_composite(*detail::owner_of(operands...), label, body, gradient, operands...);
}

}  // namespace meshtensor
