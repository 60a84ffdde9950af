// SPDX-License-Identifier: Apache-2.0
// Gradient accumulation: computes a loss part by part, with memory for one part, and reduces the summed gradients once.
#pragma once

#include "meshtensor/op/control.hpp"
#include "meshtensor/op/gradient.hpp"

namespace meshtensor {
namespace detail {

/// The values of the current region that depend on parameters differentiably.
struct from_parameters {
  bool known[max_values];

  constexpr explicit from_parameters(builder const& b) : known{} {
    meshtensor::module const& m = b.m;
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      if (n.region != b.region || stops_gradient(n)) continue;
      bool any = n.kind == primitive::read && m.variables[variable_of(n)].trainable;
      for (int k = 0; k < n.operands.count; ++k) any = any || known[m.operand(n, k)];
      for (int k = 0; k < n.results.count; ++k) known[m.result(n, k)] = any && is_float(m.result_value(n, k).type);
    }
  }
};

/// The parameters from outside that a loop's body uses, and the arguments that stand for them in the body.
struct parameters_taken {
  id_list<> outer, inner;

  constexpr parameters_taken(builder& b, frame const& f, dtype type) : outer{}, inner{} {
    from_parameters const made(b);
    bool lost = false;  // a tensor from outside depends on a parameter
    for (value_id v : ids(f.stacked)) lost = lost || made.known[v];
    for (int i = 0; i < f.invariants.count; ++i) {
      value_id const v = f.invariants.at[i];
      if (b.m.values[v].type == type && sees_parameter(b, v, type, no_id))
        outer.add(v), inner.add(f.invariant_arguments.at[i]);
      else lost = lost || made.known[v];
    }
    b.expect(!lost,
             "G34 accumulate: its body uses a tensor that was made from parameters outside: make it in the body, or "
             "end its gradient with stop_gradient");
    b.expect(outer.count != 0, "G28 accumulate: its body has read no parameter that could be changed");
  }
};

template <dtype T, class Loss>
constexpr std::tuple<Loss, gradients<T>> end_parts(builder& b, dim_id dim, Loss const& loss) {
  id_list<> given{}, operands{};
  if (b.depth == 0) return {loss, {&b, {}, {}}};  // too many loops were open (G21)
  given.add(b.use(loss.id));
  region_id const body = b.region;
  b.region = b.m.regions[body].parent;
  parameters_taken const p(b, b.frames[b.depth - 1], T);
  b.region = body;
  given.add_all(add_gradient(b, given.at[0], p.inner));
  updated_states const states(b);
  id_list<> results = states.next;
  results.add_all(given), results.add_all(states.slices);
  frame const f = b.end_frame(results);
  operands.add_all(states.starts), operands.add_all(f.stacked), operands.add_all(f.invariants);
  node_id const n = b.add_node(primitive::repeat, 0, operands);
  loop{dim, states.starts.count, f.stacked.count, given.count, false, false}.store(b.m.nodes[n]);
  region_id const owned[] = {f.region};
  b.m.nodes[n].regions = b.add_links(owned);
  states.add_carries(n);
  Loss const all(&b, b.add_result(n, Loss::type, shape{}));
  gradients<T> totals{&b, p.outer, {}};
  for (value_id v : ids(p.outer)) totals.values.add(b.add_result(n, T, b.m.values[v].dims));
  states.add_stacks(n);
  states.hand_on(n, 0, states.starts.count + given.count);
  return {all, totals};
}

/// Whether all sliced tensors have the loop's dim. A tensor whose dims the type does not show counts as one that has
/// it.
template <class D, class Xs>
inline constexpr bool all_have = false;
template <class D, class... H>
inline constexpr bool all_have<D, std::tuple<H...>> =
    (sizeof...(H) != 0) && ((is_any<typename H::dim_list> || has_dim_v<typename H::dim_list, D>) && ...);

/// The first error that the types of an accumulation show, or `no_error`.
template <scope S, dim_type D, class Body, class... X>
consteval auto parts_finding(std::tuple<X...> const*) {
  if constexpr (!all_have<D, std::tuple<X...>>)
    return refusal<"T01 accumulate: a tensor lacks the dim of the parts: use it from outside instead", X..., D>{};
  else if constexpr (!takes<Body, S, sliced_t<X, D>...>)
    return refusal<"T11 the body of accumulate takes the scope, then a slice of each tensor as an argument of its own",
                   sliced_t<X, D>...>{};
  else {
    using L = std::remove_cvref_t<std::invoke_result_t<Body const&, S const&, sliced_t<X, D> const&...>>;
    if constexpr (!handle<L>) return refusal<"T11 the body of accumulate gives one tensor, the loss of a part", L>{};
    else if constexpr (!of_float<L>) return refusal<"T04 accumulate: the loss is not a float", L>{};
    else if constexpr (!may_be_scalar<L>) return refusal<"T03 accumulate: the loss has dims: take its sum first", L>{};
    else return no_error{};
  }
}
template <scope S, dim_type D, class Xs, class Body>
consteval auto accumulate_finding() {
  return parts_finding<S, D, Body>(static_cast<tuple_of<Xs> const*>(nullptr));
}

}  // namespace detail

/// Gradient accumulation computes the loss of a step in parts, and the gradients by all parameters that the body reads.
/// For example, write `auto [loss, gradients] = mt::accumulate(s / "model", parts, std::tuple(text, next), body)`, and
/// then `mt::adam{…}.minimize(s / "optimizer", gradients)`. The body is called as body(s, text, next) with slices that
/// lack the dim, and returns the loss of one part. The loss is the sum over the parts, so a mean divides by the element
/// count of all parts. Each part runs forward and backward before the next one starts. Therefore the step needs memory
/// for one part and for the gradients.
///
/// dims    every sliced tensor has `dim`. The body uses tensors without it from outside. Parameters do not get `dim`,
///         so they are the same as if the body were called without parts
/// layout  gradients stay partial sums until the last part is complete, so they are reduced once a step
/// grad    computed here. Each part has its own random numbers
/// errors  G26 inside a loop or branch; G28 no parameter is read; G34 a tensor made from parameters outside is used;
///         T01 a tensor lacks the dim; T03 the body's loss has dims
template <scope S, dim_type D, class Xs, class Body>
requires(handle<Xs> || detail::is_tuple<Xs>)
constexpr auto accumulate(S const& s, D dim, Xs const& sequences, Body const& body,
                          checked_line<decltype(detail::accumulate_finding<S, D, Xs, Body>())> const& where = {}) {
  builder& b = s.graph_builder();
  if constexpr (!nothing_found<decltype(detail::accumulate_finding<S, D, Xs, Body>())>) {
    constexpr dtype type = detail::parameters_of<S>::value;
    b.give_up();
    return std::tuple{tensor<dtype::f32>(&b, value_id{}), gradients<type>{&b, {}, {}}};
  } else {
    auto const here = s.enter();
    auto const xs = detail::as_tuple(sequences);
    detail::recording const r(&b, where);
    site_id const site = b.site;
    dim_id const parts = detail::dim_of(b, dim);
    b.expect(b.depth == 0, "G26 accumulate inside a loop or branch: take it outside");
    id_list<> const given = detail::ids_of(xs);
    for (value_id v : ids(given))
      b.expect(b.m.values[v].dims.has(parts),
               "T01 accumulate: a tensor lacks the dim of the parts: use it from outside instead");
    b.begin_frame(region_kind::body, no_id, parts, true);
    auto const loss = std::apply([&](auto const&... x) { return body(s, x...); }, detail::slices<D>(b, parts, xs));
    b.site = site;
    return detail::end_parts<detail::parameters_of<S>::value>(b, parts, loss);
  }
}

}  // namespace meshtensor
