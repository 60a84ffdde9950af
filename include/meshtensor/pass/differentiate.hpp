// SPDX-License-Identifier: Apache-2.0
// Replaces every gradient node by the nodes that compute it, and what is watched by outputs.
// before: traced and verified.  after: no gradient node and no watch is left; composites without a gradient of their
// own are inlined. why: backward nodes are ordinary nodes, so every later pass treats both directions alike.
#pragma once

#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/inline_composites.hpp"
#include "meshtensor/pass/watch.hpp"

namespace meshtensor {
namespace detail {

struct differentiator : rebuild {
  watched_values watched;
  id loss = no_id;  // whose gradient is being taken
  int gradients_watched = 0;
  id gradient_watches[max_watched] = {};  // old nodes

  constexpr differentiator(module const& source, module& target) : rebuild(source, target) {
    for (int i = 0; i < from.node_count; ++i)
      if (from.nodes[i].kind == primitive::watch && from.nodes[i].attribute[1] != 0) {
        require(gradients_watched < max_watched, "G33: a program watches at most 64 tensors");
        gradient_watches[gradients_watched++] = static_cast<id>(i);
      }
  }

  constexpr void run() {
    for (int i = 0; i < from.node_count; ++i) {
      node const& n = from.nodes[i];
      if (n.kind == primitive::gradient) derive(n);
      else if (n.kind != primitive::watch) copy(n);
      else if (n.attribute[1] == 0) watched.add(b, n, (*this)[from.operand(n, 0)]);
    }
    watched.surface(b);
  }

  constexpr void derive(node const& n) {
    enter(n);
    b.copy = 0;
    id const here = b.region;
    loss = (*this)[from.operand(n, 0)];
    differentiation d(b);
    for (int i = 1; i < n.operands.count; ++i) d.active[(*this)[from.operand(n, i)]] = true;
    activate(d, here, m.node_count);
    int const end = m.node_count;
    d.active[loss] = true;
    d.contribute(loss, constant(b, 1, m.values[loss].type));
    backwards(d, here, end);
    b.path = n.path, b.site = n.site;
    for (int i = 0; i < n.results.count; ++i) {
      id const by = (*this)[from.operand(n, i + 1)];
      replace(from.result(n, i), d.has_cotangent(by) ? d.cotangent(by) : zeros_like(by));
    }
  }

  constexpr id zeros_like(id v) {
    id const zero = constant(b, 0, m.values[v].type);
    return m.values[v].dims.count == 0 ? zero : broadcast(b, zero, m.values[v].dims);
  }

  // A value is active if it depends on what is differentiated by.
  constexpr void activate(differentiation& d, id r, int end) {
    for (int i = 0; i < end; ++i) {
      node const& n = m.nodes[i];
      if (n.region != r) continue;
      bool any = false;
      for (int k = 0; k < n.operands.count; ++k) any = any || d.active[m.operand(n, k)];
      if (!any) continue;
      if (n.kind == primitive::repeat) {
        activate_loop(d, n, i);
      } else {
        for (int k = 0; k < n.results.count; ++k) d.active[m.result(n, k)] = is_float(m.result_value(n, k).type);
      }
    }
  }
  constexpr void activate_loop(differentiation& d, node const& n, int end) {
    loop const l = loop::of(n);
    region const& body = m.regions[m.region_of(n, 0)];
    for (int k = 0; k < n.operands.count; ++k)
      if (d.active[m.operand(n, k)]) d.active[m.link(body.arguments, k)] = true;
    for (bool changed = true; changed;) {
      changed = false;
      activate(d, m.region_of(n, 0), end);
      for (int k = 0; k < l.carries; ++k) {
        id const given = m.link(body.results, k), taken = m.link(body.arguments, k);
        if (d.active[given] && !d.active[taken]) d.active[taken] = changed = true;
      }
    }
    for (int k = 0; k < n.results.count; ++k) {
      bool const carried = k < l.carries && d.active[m.link(body.arguments, k)];
      if (carried || d.active[m.link(body.results, k)]) d.active[m.result(n, k)] = true;
    }
  }

  constexpr void backwards(differentiation& d, id r, int end) {
    for (int i = end; i-- > 0;) {
      node const n = m.nodes[i];
      if (n.region != r) continue;
      bool any = false;
      for (int k = 0; k < n.results.count; ++k) any = any || d.has_cotangent(m.result(n, k));
      if (!any) continue;
      for (int k = 0; k < gradients_watched; ++k)
        if (node const& w = from.nodes[gradient_watches[k]]; has(from.operand(w, 0))) {
          id const v = (*this)[from.operand(w, 0)];
          if (m.values[v].node == i && d.has_cotangent(v)) watched.add(b, w, d.cotangent(v), loss);
        }
      b.path = n.path, b.site = n.site;
      if (n.kind == primitive::repeat) loop_backwards(d, static_cast<id>(i));
      else if (n.kind == primitive::composite) composite_backwards(d, static_cast<id>(i));
      else rule_backwards(d, n);
    }
  }

  constexpr void rule_backwards(differentiation& d, node const& n) {
    if (n.kind == primitive::while_loop || n.kind == primitive::cond) {
      diagnostic none{};
      return b.note(
          none << "G30 " << text_of(n.kind)
               << " has no gradient yet: choose with select, or end differentiation before it with stop_gradient");
    }
    with_rule(n.kind, [&]<class R>() {
      if constexpr (requires { R::gradient(d, n); }) R::gradient(d, n);
    });
  }

  // The composite's own gradient becomes a composite: of its (operands, results, cotangents) those that it reads, to
  // the cotangents that are targets. Its region is copied to where its operands are: arguments come after what they
  // stand for.
  constexpr void composite_backwards(differentiation& d, id forward) {
    node const n = m.nodes[forward];
    id const source = m.region_of(n, 1);
    id_list<> operands{}, targets{};
    bool reads[192] = {};
    find_reads(source, reads);
    int const given = n.operands.count, results = n.results.count;
    for (int i = 0; i < given; ++i)
      if (d.differentiable(m.operand(n, i))) targets.add(static_cast<id>(i));
    for (int i = 0; i < given + 2 * results; ++i) {
      bool const is_result = i >= given && i < given + results;
      if (!reads[i]) continue;
      if (i < given || is_result) {
        operands.add(b.use(d.forward(is_result ? m.result(n, i - given) : m.operand(n, i))));
      } else {
        id const y = m.result(n, i - given - results);
        operands.add(d.has_cotangent(y) ? d.cotangent(y) : zeros_like(y));
      }
    }
    id_list<1> owned{};
    owned.add(copied(source, reads, targets));
    id const made =
        b.add_node(primitive::composite, 0, operands, {{b.intern(gradient_name(n)), static_cast<id>(operands.count)}});
    m.nodes[made].regions = b.add_links(owned);
    id_list<> terms{};
    for (id i : ids(targets)) {
      value const x = m.operand_value(n, i);
      terms.add(b.add_result(made, x.type, x.dims));
    }
    for (int i = 0; i < targets.count; ++i) d.contribute(m.operand(n, targets.at[i]), terms.at[i]);
  }
  /// Which arguments of a region something in it reads.
  constexpr void find_reads(id r, bool* reads) const {
    auto const& source = m.regions[r];
    auto mark = [&](id v) {
      node const& maker = m.nodes[m.values[v].node];
      if (maker.kind == primitive::argument && maker.region == r) reads[maker.attribute[0]] = true;
    };
    for (int i = 0; i < source.results.count; ++i) mark(m.link(source.results, i));
    for (int i = m.values[m.link(source.arguments, 0)].node; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      if (n.region == source.parent) return;  // behind its last node
      for (int k = 0; n.region == r && k < n.operands.count; ++k) mark(m.operand(n, k));
    }
  }

  constexpr name gradient_name(node const& n) const {
    name const& label = m.names[n.attribute[0]];
    char text[name::capacity] = {};
    std::size_t size = 0;
    for (; size < label.size() && size < name::capacity - 9; ++size) text[size] = label[size];
    for (char c : std::string_view("_gradient")) text[size++] = c;
    return name::of({text, size});
  }

  /// A copy of a region that owns none, with the arguments that are read and the results that are targets.
  constexpr id copied(id source, bool const* reads, ids targets) {
    id const here = b.region;
    region const original = m.regions[source];
    id const fresh = b.begin_region(original.kind, original.label);
    m.regions[fresh].parent = here;
    id_list<> arguments{}, results{};
    id again[max_values] = {};
    int const end = m.node_count;
    for (int i = m.values[m.link(original.arguments, 0)].node; i < end; ++i) {
      node const n = m.nodes[i];
      if (n.region == original.parent) break;  // behind its last node
      if (n.region != source || (n.kind == primitive::argument && !reads[n.attribute[0]])) continue;
      require(n.regions.count == 0, "G27: the gradient of a composite holds a loop or a composite");
      id_list<> operands{};
      for (int k = 0; k < n.operands.count; ++k) operands.add(again[m.operand(n, k)]);
      id const made = b.add_again(n, m.result_value(n), operands);
      again[m.result(n)] = made;
      if (n.kind == primitive::argument) {
        m.nodes[m.values[made].node].attribute[0] = static_cast<id>(arguments.count);
        arguments.add(made);
      }
    }
    for (id i : targets) results.add(again[m.link(original.results, i)]);
    m.regions[fresh].arguments = b.add_links(arguments), m.regions[fresh].results = b.add_links(results);
    b.region = here;
    return fresh;
  }

  // The gradient of a loop is a loop the other way: cotangents of carries are carries, of stacked inputs stacked
  // outputs, of invariants sums.
  constexpr void loop_backwards(differentiation& d, id forward) {
    node const n = m.nodes[forward];
    loop const l = loop::of(n);
    id const body_id = m.region_of(n, 0);
    region const body = m.regions[body_id];
    int const results = n.results.count;
    auto argument = [&](int i) { return m.link(body.arguments, i); };
    auto is_active = [&](int i) { return d.active[argument(i)] && is_float(m.values[argument(i)].type); };
    id_list<> starts{}, seeds{};  // cotangents of the last carries; of sums and stacked outputs
    for (int i = 0; i < l.carries; ++i) {
      id const y = m.result(n, i);
      starts.add(!is_active(i) ? no_id : d.has_cotangent(y) ? d.cotangent(y) : zeros_like(y));
    }
    for (int i = l.carries; i < results; ++i) seeds.add(d.cotangent(m.result(n, i)));

    b.begin_frame(region_kind::body, no_id, l.dim, true);
    differentiation inner(b, &d, forward);
    for (int i = 0; i < max_values; ++i)
      if (i < m.value_count && d.active[i]) inner.active[i] = true;
    id_list<> carried{};
    for (int i = 0; i < l.carries; ++i) {
      if (starts.at[i] == no_id) continue;
      carried.add(starts.at[i]);
      seed(inner, m.link(body.results, i), b.add_carry(starts.at[i]));
    }
    for (int i = l.carries; i < results; ++i) {
      id const s = seeds.at[i - l.carries];
      if (s == no_id) continue;
      seed(inner, m.link(body.results, i), i < l.carries + l.sums ? b.use(s) : b.add_stacked(s));
    }
    int const end = forward;
    backwards(inner, body_id, end);
    b.path = n.path, b.site = n.site;

    id_list<> given{};
    auto term = [&](int i) {
      return inner.has_cotangent(argument(i)) ? inner.cotangent(argument(i)) : zeros_like(argument(i));
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
    id const made = b.add_node(primitive::repeat, 0, operands);
    loop{l.dim, carried.count, f.stacked.count, sums, !l.reversed}.store(m.nodes[made]);
    id const owned[] = {f.region};
    m.nodes[made].regions = b.add_links(owned);
    id_list<> targets{}, terms{};
    auto result = [&](int i, shape const& dims) {
      targets.add(m.operand(n, i));
      terms.add(b.add_result(made, m.values[argument(i)].type, dims));
    };
    for (int i = 0; i < l.carries; ++i)
      if (starts.at[i] != no_id) result(i, m.values[argument(i)].dims);
    for (int i = l.carries + l.stacked; i < n.operands.count; ++i)
      if (is_active(i) && inner.has_cotangent(argument(i))) result(i, m.values[argument(i)].dims);
    for (int i = l.carries; i < l.carries + l.stacked; ++i)
      if (is_active(i) && inner.has_cotangent(argument(i))) result(i, led_by(l.dim, m.values[argument(i)].dims));
    for (int i = 0; i < targets.count; ++i) d.contribute(targets.at[i], terms.at[i]);
  }
  constexpr void seed(differentiation& inner, id forward_value, id term) {
    if (inner.active[forward_value]) inner.contribute(forward_value, term);
  }
};

}  // namespace detail

/// Replaces the gradient nodes of a module by what computes them, in reverse mode.
///
/// errors  G30 a node on the way has no gradient rule
constexpr module differentiate(module const& m) {
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
