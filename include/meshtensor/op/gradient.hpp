// SPDX-License-Identifier: Apache-2.0
// Gradients in the program: one node stands for the derivative until `differentiate` replaces it.
#pragma once

#include <array>
#include <tuple>
#include <utility>

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/detail/record.hpp"
#include "meshtensor/op/detail/structure.hpp"
#include "meshtensor/op/gradient/sources_of_loss.hpp"

namespace meshtensor {

/// A parameter with its gradient. An optimizer loops over such pairs.
template <dtype T>
struct parameter_gradient {
  any_tensor<T> parameter, gradient;
};

/// All parameters of a program with their gradients.
template <dtype T>
struct gradients {
  builder* owner;
  id_list<> parameters, values;

  constexpr int size() const { return parameters.count; }
  /// A parameter and its gradient. The result is const, because a value assigned to a copy would be lost.
  constexpr parameter_gradient<T> const operator[](int i) const {
    return {any_tensor<T>(owner, parameters.at[i]), any_tensor<T>(owner, values.at[i])};
  }
  /// The results of a function in place of the gradients, for the same parameters: `g.transformed([&](auto dw) { return
  /// dw * factor; })`. An optimizer takes them if each has the dims of its parameter again.
  ///
  /// errors  G18 a result of another program
  template <class F>
  constexpr gradients transformed(F const& of_gradient) const {
    gradients all{owner, parameters, {}};
    for (int i = 0; i < size(); ++i) {
      any_tensor<T> const given(of_gradient((*this)[i].gradient));
      owner->expect(given.owner == owner, "G18 a tensor of one program is used in another");
      all.values.add(given.id);
    }
    return all;
  }
};

namespace detail {

template <class S>
struct parameters_of;
template <dtype P, dtype C>
struct parameters_of<trace_scope<P, C>> {
  static constexpr dtype value = P;
};

template <class L>
concept may_be_scalar = is_any<typename L::dim_list> || std::is_same_v<typename L::dim_list, dims<>>;

/// Whether a value is the read of a parameter of a dtype, under a path.
constexpr bool is_parameter(module const& m, value_id v, dtype type, path_id root = no_id) {
  node const& n = m.nodes[m.values[v].node];
  if (n.kind != primitive::read) return false;
  variable const& p = m.variables[variable_of(n)];
  return p.trainable && p.type == type && is_under(m, p.path, root);
}
/// The same for what the body of a loop or of an each sees of it.
constexpr bool sees_parameter(builder const& b, value_id v, dtype type, path_id root) {
  variable_id const which = variable_read(b, v);
  if (which == no_id) return false;
  variable const& p = b.m.variables[which];
  return p.trainable && p.type == type && is_under(b.m, p.path, root);
}

/// The derivatives of a loss, at the current position. In an each, they are those of the sum of all indices' losses. In
/// a loop they are valid if only the loop uses them.
constexpr id_list<> add_gradient(builder& b, value_id loss, ids by) {
  if (value const& v = b.m.values[loss]; v.dims.count != 0) {
    diagnostic d{};
    b.note(add_type(d << "T03 the loss has dims, ", b.m, v.type, v.dims) << ": take its sum or mean first");
  }
  id_list<> operands{}, results{};
  for (int e = 0; e < b.each_count; ++e)
    loss = add_node<hide_rule>(b, {loss}, view_attributes{b.eaches[e].dim, true}.packed());
  operands.add(loss);
  for (value_id p : by) operands.add(b.use(p));
  node_id const n = b.add_node(primitive::gradient, 0, operands);
  for (value_id p : by) results.add(b.add_result(n, b.m.values[p].type, b.m.values[p].dims));
  return results;
}
/// While it lives, nodes are made in the region in which a loss was made, for the indices of the eaches around it.
class at_loss {
 public:
  constexpr at_loss(builder& b, value_id loss) : b_(b), region_(b.region), depth_(b.depth), eaches_(b.each_count) {
    int const depth = b.depth_of_value(loss);
    if (!b.expect(depth >= 0, "G23 a loss that was made inside a loop or branch is differentiated outside of it"))
      return;
    b.region = b.m.values[loss].region, b.depth = depth;
    while (b.each_count > 0 && b.eaches[b.each_count - 1].depth > depth) --b.each_count;
    for (int level = 0; level < depth; ++level)
      b.expect(b.m.regions[b.frames[level].region].kind <= region_kind::branch,
               "G26 gradient in the body of a composite: take it outside");
  }
  constexpr ~at_loss() { b_.region = region_, b_.depth = depth_, b_.each_count = eaches_; }
  at_loss(at_loss const&) = delete;

 private:
  builder& b_;
  region_id region_;
  int depth_, eaches_;
};

constexpr id_list<> record_gradient(builder& b, value_id loss, ids by) {
  at_loss const here(b, loss);
  return add_gradient(b, loss, by);
}
/// The gradients of a loss by the parameters under a path from which the loss was computed. Parameters that it does not
/// use at all become operands of the node, too, so that the user is warned of them (G36).
template <dtype T>
constexpr gradients<T> gradients_under(builder& b, value_id loss, path_id root) {
  meshtensor::module const& m = b.m;
  at_loss const here(b, loss);
  loss = b.use(loss);
  region_id const entry = b.depth == 0 ? b.region : b.frames[0].around;
  sources_of_loss const sources(m, loss);
  gradients<T> g{&b, {}, {}};
  id_list<> unused{};
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind != primitive::read || n.region != entry || !is_parameter(m, m.result(n), T, root)) continue;
    value_id const own = m.result(n);
    value_id const p = b.find_use(b.regime == nullptr ? own : b.regime->seen(b, variable_of(n), own));
    if (p == no_id) continue;  // the body of the loop or each does not use it
    if (sources.differentiable[p]) g.parameters.add(p), require_no_detour(b, sources, p);
    else if (!sources.any[p]) unused.add(p);
  }
  id_list<> by = g.parameters;
  by.add_all(unused);
  id_list<> const all = record_gradient(b, loss, by);
  for (int i = 0; i < g.parameters.count; ++i) g.values.add(all.at[i]);
  return g;
}

/// The gradients of a loss by tensors that a program names.
constexpr id_list<> gradients_by(builder& b, value_id loss, ids by) {
  at_loss const here(b, loss);
  loss = b.use(loss);
  id_list<> used{};
  for (value_id v : by) used.add(b.use(v));
  sources_of_loss const sources(b.m, loss);
  for (value_id v : ids(used)) require_source(b, sources, v), require_no_detour(b, sources, v);
  return add_gradient(b, loss, used);
}

template <handle L>
consteval auto gradient_finding() {
  if constexpr (of_float<L>) return no_error{};
  else return refusal<"T04 gradient: the loss is not a float", L>{};
}

template <class... P, std::size_t... I>
constexpr std::tuple<P...> handles_of(builder& b, id_list<> const& l, std::index_sequence<I...>) {
  return {P(&b, l.at[I])...};
}
}  // namespace detail

/// The gradients of a loss by all parameters of dtype `T` that the loss was computed from.
///
/// dims    for each gradient, those of its parameter
/// layout  reduced once per step, where the update needs it
/// errors  T03 the loss has dims
template <dtype T, handle L>
constexpr gradients<T> gradient_by_parameters(L const& loss,
                                              checked_line<decltype(detail::gradient_finding<L>())> const& where = {}) {
  detail::recording const r(loss.owner, where);
  if constexpr (!of_float<L>) r.b.give_up();
  return detail::gradients_under<T>(r.b, loss.id, no_id);
}

/// The gradients of a loss by the given tensors: parameters, inputs, or any tensor that the loss was computed from.
///
/// In a loop, a branch or an each, the gradient is that of this iteration, branch or index alone.
///
/// errors  G26 in the body of a composite; G37 the loss was not computed from a tensor; T04 not a float
template <handle L, handle... P>
requires(of_float<L> && (of_float<P> && ...))
constexpr auto gradient(L const& loss, P const&... by) {
  builder& b = *detail::owner_of(loss, by...);
  id_list<> const g = detail::gradients_by(b, loss.id, std::array{by.id...});
  std::tuple const result = detail::handles_of<P...>(b, g, std::index_sequence_for<P...>{});
  if constexpr (sizeof...(P) == 1) return std::get<0>(result);
  else return result;
}
namespace detail {
template <class A>
concept may_be_handle = handle<A> || std::is_same_v<A, none_given>;
template <class A>
concept may_be_float = of_float<A> || std::is_same_v<A, none_given>;
}  // namespace detail
/// Rejects integers and bools.
template <handle L, detail::may_be_handle A, detail::may_be_handle B = detail::none_given,
          detail::may_be_handle C = detail::none_given, detail::may_be_handle D = detail::none_given>
requires(!(of_float<L> && detail::may_be_float<A> && detail::may_be_float<B> && detail::may_be_float<C> &&
           detail::may_be_float<D>))
constexpr auto gradient(L const& loss, A const& a, B const& = {}, C const& = {}, D const& = {},
                        detail::refused_call<"T04 gradient: only floats have gradients", L, A, B, C, D> const& = {}) {
  detail::given_up(loss);
  return a;
}
/// Rejects arguments that are no tensors, for example a tuple of tensors.
template <handle L, detail::argument A, detail::argument B = detail::none_given,
          detail::argument C = detail::none_given, detail::argument D = detail::none_given>
requires(!(detail::may_be_handle<A> && detail::may_be_handle<B> && detail::may_be_handle<C> &&
           detail::may_be_handle<D>))
constexpr auto gradient(L const& loss, A const&, B const& = {}, C const& = {}, D const& = {},
                        detail::refused_call<"T11 gradient takes the loss, then each tensor as an argument of its own",
                                             A, B, C, D> const& = {}) {
  return detail::given_up(loss);
}

}  // namespace meshtensor
