// SPDX-License-Identifier: Apache-2.0
// Replaces every gradient node by the nodes that compute it, and every watch by an output.
// before: traced and verified.  after: no gradient node and no watch is left. Composites without a custom gradient are
// inlined.
// why: backward nodes are ordinary nodes, so every later pass treats both directions alike.
#pragma once

#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/copy_region.hpp"
#include "meshtensor/pass/differentiate/activate.hpp"
#include "meshtensor/pass/differentiate/copied_region.hpp"
#include "meshtensor/pass/differentiate/custom_gradient.hpp"
#include "meshtensor/pass/differentiate/forward_copy.hpp"
#include "meshtensor/pass/differentiate/last_cotangents.hpp"
#include "meshtensor/pass/differentiate/zeros_like.hpp"
#include "meshtensor/pass/inline_composites.hpp"
#include "meshtensor/pass/rebuild.hpp"
#include "meshtensor/pass/watch.hpp"

namespace meshtensor {
namespace detail {

struct differentiator : rebuild {
  watched_values watched;
  value_id loss = no_id;  // the loss that is being differentiated
  int gradients_watched = 0;
  node_id gradient_watches[max_watched] = {};  // ids of old nodes
  id watched_copies[max_watched] = {};         // the copies of their tensors in a loop that runs again, plus 1, or 0

  constexpr differentiator(module const& source, module& target) : rebuild(source, target) {
    for (int i = 0; i < from.node_count; ++i)
      if (from.nodes[i].kind == primitive::watch && watch_attributes::of(from.nodes[i]).of_gradient) {
        if (!b.expect(gradients_watched < max_watched, "G33 a program watches at most 64 tensors")) return;
        gradient_watches[gradients_watched++] = static_cast<node_id>(i);
      }
  }

  constexpr void run() {
    for (int i = 0; i < from.node_count && m.report.empty(); ++i) {
      node const& n = from.nodes[i];
      if (n.kind == primitive::gradient) derive(n);
      else if (n.kind != primitive::watch) copy(n);
      else if (!watch_attributes::of(n).of_gradient) watched.add(b, n, (*this)[from.operand(n, 0)]);
    }
    if (m.report.empty()) watched.surface(b);
  }

  constexpr void derive(node const& n) {
    enter(n);
    b.copy = b.called = 0, b.phase = phase::backward;
    region_id const here = b.region;
    loss = (*this)[from.operand(n, 0)];
    differentiation d(b);
    for (int i = 1; i < n.operands.count; ++i) d.active[(*this)[from.operand(n, i)]] = true;
    activate(d, here, 0, m.node_count);
    int const end = m.node_count;
    d.active[loss] = true;
    d.contribute(loss, constant(b, 1, m.values[loss].type));
    backwards(d, here, 0, end);
    b.path = n.path, b.site = n.site;
    for (int i = 0; i < n.results.count; ++i) {
      value_id const by = (*this)[from.operand(n, i + 1)];
      if (node const& maker = m.nodes[m.values[by].node]; !d.has_cotangent(by) && maker.kind == primitive::read)
        m.variables[variable_of(maker)].idle = true;
      replace(from.result(n, i), d.has_cotangent(by) ? d.cotangent(by) : zeros_like(b, by));
    }
  }

  constexpr void backwards(differentiation& d, region_id r, int begin, int end) {
    for (int i = end; i-- > begin && m.report.empty();) {
      node const n = m.nodes[i];
      if (n.region != r) continue;
      bool any = false;
      for (int k = 0; k < n.results.count; ++k) any = any || d.has_cotangent(m.result(n, k));
      if (!any) continue;
      for (int k = 0; k < gradients_watched; ++k)
        if (node const& w = from.nodes[gradient_watches[k]]; has(from.operand(w, 0))) {
          value_id const v = watched_tensor(k);
          if (m.values[v].node == i && d.has_cotangent(v)) watched.add(b, w, d.cotangent(v), loss);
        }
      b.path = n.path, b.site = n.site, b.called = n.called;
      if (n.kind == primitive::repeat && n.copy != 0 && d.loop_node != no_id)
        recomputed_loop_backwards(d, static_cast<node_id>(i));
      else if (n.kind == primitive::repeat) loop_backwards(d, static_cast<node_id>(i));
      else if (n.kind == primitive::composite) composite_backwards(d, static_cast<node_id>(i));
      else rule_backwards(d, n);
    }
  }

  /// The tensor whose gradient is watched. In a loop that runs again, it is the tensor's copy there.
  constexpr value_id watched_tensor(int k) const {
    if (watched_copies[k] != 0) return static_cast<value_id>(watched_copies[k] - 1);
    return (*this)[from.operand(from.nodes[gradient_watches[k]], 0)];
  }

  constexpr void rule_backwards(differentiation& d, node const& n) {
    with_rule(n.kind, [&]<class R>() {
      if constexpr (requires { R::gradient(d, n); }) R::gradient(d, n);
    });
  }

  // The composite's own gradient handles the cotangents of its first `taken` results. The cotangents of the other
  // results go through its body.
  constexpr void composite_backwards(differentiation& d, node_id forward) {
    node const n = m.nodes[forward];
    int const taken = cotangents_taken(m, n);
    bool own = false, others = false;
    for (int k = 0; k < n.results.count; ++k)
      if (d.has_cotangent(m.result(n, k))) (k < taken ? own : others) = true;
    if (own) own_gradient_backwards(d, forward, taken);
    if (others) body_backwards(d, forward, taken);
  }

  constexpr void backwards_through(differentiation& d, node const& n, forward_copy const& c) {
    int const end = m.node_count;
    activate(d, b.region, c.begin, end);
    for (int k = 0; k < c.results.count; ++k)
      if (d.has_cotangent(c.results.at[k])) d.contribute(c.made.at[k], d.cotangent(c.results.at[k]));
    backwards(d, b.region, c.begin, end);
    b.path = n.path, b.site = n.site;
    for (int i = 0; i < c.targets.count; ++i)
      if (d.has_cotangent(c.inside.at[i])) d.contribute(c.targets.at[i], d.cotangent(c.inside.at[i]));
  }

  // Recomputes the body at the place of the backward nodes and differentiates it node by node, for the results from
  // `first` on. The gradient of a gradient is computed in this way, because a gradient has no custom gradient of its
  // own.
  constexpr void body_backwards(differentiation& d, node_id forward, int first) {
    node const n = m.nodes[forward];
    region_copy body(b, forward, 0);
    for (int k = first; k < n.results.count; ++k)
      if (d.has_cotangent(m.result(n, k))) body.need(k);
    body.find_needed();
    forward_copy c{};
    for (int i = 0; i < n.operands.count; ++i)
      if (body.needs_argument(i)) body.give(i, taken_by_copy(d, m.operand(n, i), c));
    c.begin = m.node_count;
    body.copy();
    for (int k = first; k < n.results.count; ++k)
      if (d.has_cotangent(m.result(n, k))) c.results.add(m.result(n, k)), c.made.add(body.result(k));
    backwards_through(d, n, c);
  }

  // Differentiates a loop within another loop's iteration, if nothing but its operands is saved. The backward iteration
  // runs the inner loop again and differentiates this copy.
  constexpr void recomputed_loop_backwards(differentiation& d, node_id forward) {
    node const n = m.nodes[forward];
    region_copy body(b, forward, 0);
    id_list<> operands{};
    id_list<max_operands, id> places{}, results{};
    forward_copy c{};
    for (int k = 0; k < n.results.count; ++k) body.need(k), results.add(static_cast<id>(k));
    body.find_needed();
    for (int i = 0; i < n.operands.count; ++i)
      operands.add(taken_by_copy(d, m.operand(n, i), c)), places.add(static_cast<id>(i));
    c.begin = m.node_count;
    region_id const owned[] = {copied_region(b, body, m.region_of(n, 0), places, results)};
    node_id const made = b.add_node(primitive::repeat, 0, operands, attributes_of(n));
    m.nodes[made].regions = b.add_links(owned);
    for (int k = 0; k < n.results.count; ++k) {
      value const like = m.result_value(n, k);
      c.results.add(m.result(n, k)), c.made.add(b.add_result(made, like.type, like.dims));
    }
    id before[max_watched] = {};
    for (int k = 0; k < gradients_watched; ++k) {
      before[k] = watched_copies[k];
      if (!has(from.operand(from.nodes[gradient_watches[k]], 0))) continue;
      if (value_id const copied = body.copy_of(watched_tensor(k)); copied != id{no_id})
        watched_copies[k] = static_cast<id>(copied + 1);
    }
    backwards_through(d, n, c);
    for (int k = 0; k < gradients_watched; ++k) watched_copies[k] = before[k];
  }

  // The gradient of a loop is a loop in the opposite direction. In this loop, cotangents of carries are carries,
  // cotangents of stacked inputs are stacked outputs, and cotangents of loop invariants are sums.
  constexpr void loop_backwards(differentiation& d, node_id forward) {
    node const n = m.nodes[forward];
    loop const l = loop::of(n);
    region_id const body_id = m.region_of(n, 0);
    region const body = m.regions[body_id];
    int const results = n.results.count;
    auto argument = [&](int i) { return m.link(body.arguments, i); };
    auto is_active = [&](int i) { return d.active[argument(i)] && is_float(m.values[argument(i)].type); };
    id_list<> const starts = last_cotangents(d, forward);
    id_list<> seeds{};  // cotangents of sums and stacked outputs
    for (int i = l.carries; i < results; ++i) seeds.add(d.cotangent(m.result(n, i)));

    value_id const ran = l.ends_early ? b.use(d.forward(m.result(n))) : no_id;  // the backward loop runs as often
    b.begin_frame(region_kind::body, no_id, l.dim, true);
    differentiation inner(b, &d, forward);
    for (int i = 0; i < max_values; ++i)
      if (i < m.value_count && d.active[i]) inner.active[i] = true;
    id_list<> carried{}, given{};
    if (ran != no_id) carried.add(ran), given.add(b.add_carry(ran));
    for (int i = 0; i < l.carries; ++i) {
      if (starts.at[i] == no_id) continue;
      carried.add(starts.at[i]);
      seed(inner, m.link(body.results, i), b.add_carry(starts.at[i]));
    }
    for (int i = l.carries; i < results; ++i) {
      value_id const s = seeds.at[i - l.carries];
      if (s == no_id) continue;
      seed(inner, m.link(body.results, i), i < l.carries + l.sums ? b.use(s) : b.add_stacked(s));
    }
    int const end = forward;
    backwards(inner, body_id, 0, end);
    b.path = n.path, b.site = n.site;

    auto term = [&](int i) {
      return inner.has_cotangent(argument(i)) ? inner.cotangent(argument(i)) : zeros_like(b, argument(i));
    };
    for (int i = 0; i < l.carries; ++i)
      if (starts.at[i] != no_id) given.add(term(i));
    int sums = 0;
    for (int i = l.carries + l.stacked; i < n.operands.count; ++i)
      if (is_active(i) && inner.has_cotangent(argument(i))) given.add(term(i)), ++sums;
    for (int i = l.carries; i < l.carries + l.stacked; ++i)
      if (is_active(i) && inner.has_cotangent(argument(i))) given.add(term(i));

    frame const f = b.end_frame(given);
    id_list<> operands{};
    operands.add_all(carried), operands.add_all(f.stacked), operands.add_all(f.invariants);
    node_id const made = b.add_node(primitive::repeat, 0, operands);
    loop{l.dim, carried.count, f.stacked.count, sums, !l.reversed, l.ends_early}.store(m.nodes[made]);
    region_id const owned[] = {f.region};
    m.nodes[made].regions = b.add_links(owned);
    if (ran != no_id) b.add_result(made, dtype::i64, shape{});
    id_list<> targets{}, terms{};
    auto result = [&](int i, shape const& dims) {
      value_id const y = b.add_result(made, m.values[argument(i)].type, dims);
      // If the body does not read a carry, the cotangent of its start matters only if the loop may run no iteration.
      if (inner.has_cotangent(argument(i)) || l.ends_early) targets.add(m.operand(n, i)), terms.add(y);
    };
    for (int i = 0; i < l.carries; ++i)
      if (starts.at[i] != no_id) result(i, m.values[argument(i)].dims);
    for (int i = l.carries + l.stacked; i < n.operands.count; ++i)
      if (is_active(i) && inner.has_cotangent(argument(i))) result(i, m.values[argument(i)].dims);
    for (int i = l.carries; i < l.carries + l.stacked; ++i)
      if (is_active(i) && inner.has_cotangent(argument(i))) result(i, led_by(l.dim, m.values[argument(i)].dims));
    for (int i = 0; i < targets.count; ++i) d.contribute(targets.at[i], terms.at[i]);
  }
  constexpr void seed(differentiation& inner, value_id forward_value, value_id term) {
    if (inner.active[forward_value]) inner.contribute(forward_value, term);
  }
};

}  // namespace detail

/// Replaces the gradient nodes of a module by the nodes that compute them, in reverse mode.
///
/// errors  G30 a user's operation between a target and the loss has no gradient
constexpr module differentiate(module const& m) {
  if (!m.report.empty()) return m;
  bool gradients = false, open = false;
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    gradients = gradients || n.kind == primitive::gradient;
    open = open || (n.kind == primitive::composite && !has_own_gradient(m, n));
  }
  if (gradients && open) return differentiate(inline_composites(m, has_own_gradient));
  meshtensor::module result{};
  detail::differentiator d(m, result);
  d.run();
  return result;
}

}  // namespace meshtensor
