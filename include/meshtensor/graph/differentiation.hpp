// The state of differentiating one region backwards: cotangents so far, and forward values as they are called where the
// backward nodes are made.
#pragma once

#include "meshtensor/graph/builder.hpp"

namespace meshtensor {

/// Rules of operations ask it for forward values and cotangents, and give it contributions; it adds them up.
struct differentiation {
  builder& b;
  differentiation* outer;   // of the enclosing region
  id loop_node;             // the forward loop whose body this is; no_id: straight code
  id adjoint[max_values];   // of a forward value, plus 1; 0: none yet
  id recalled[max_values];  // a value of the loop's body as it is called in the backward body, plus 1; 0: not asked yet

  bool active[max_values];  // depends on what is differentiated by

  constexpr explicit differentiation(builder& target, differentiation* enclosing = nullptr, id forward_loop = no_id)
      : b(target), outer(enclosing), loop_node(forward_loop), adjoint{}, recalled{}, active{} {}

  constexpr bool has_cotangent(id forward_value) const { return adjoint[forward_value] != 0; }
  constexpr id cotangent(id forward_value) const {
    return has_cotangent(forward_value) ? static_cast<id>(adjoint[forward_value] - 1) : no_id;
  }
  /// Whether a value's cotangent is wanted.
  constexpr bool differentiable(id forward_value) const {
    return active[forward_value] && is_float(b.m.values[forward_value].type);
  }

  /// Adds `term` to the cotangent of a forward value; it has the value's dims, in any order.
  constexpr void contribute(id forward_value, id term) {
    value const v = b.m.values[forward_value];
    if (!differentiable(forward_value)) return;
    if (!(b.m.values[term].dims == v.dims)) term = b.add(primitive::transpose, {term}, v.type, v.dims);
    if (has_cotangent(forward_value))
      term = b.add(primitive::elementwise, static_cast<std::uint8_t>(function::add),
                   std::initializer_list<id>{cotangent(forward_value), term}, v.type, v.dims);
    adjoint[forward_value] = static_cast<id>(term + 1);
  }

  /// A forward value as it is called here. Inside a loop it is kept from the forward loop, as one more stacked output,
  /// or made again where that takes no operands.
  constexpr id forward(id v) {
    if (loop_node == no_id) return v;
    if (recalled[v] == 0) recalled[v] = static_cast<id>(recall(v) + 1);
    return static_cast<id>(recalled[v] - 1);
  }

 private:
  constexpr id recall(id v) {
    node const made_by = b.m.nodes[b.m.values[v].node];
    node const l = b.m.nodes[loop_node];
    loop const how = loop::of(l);
    if (made_by.kind == primitive::argument) {
      int const place = made_by.attribute[0];
      id const passed = b.m.operand(l, place);
      if (place >= how.carries + how.stacked) return outside(passed);
      if (place >= how.carries) return b.add_stacked(outside(passed));
    }
    if (made_by.operands.count == 0 && made_by.kind != primitive::argument) return again(made_by, v);
    if (remakes(v)) return again(made_by, v);
    return b.add_stacked(outside(kept(v)));
  }
  /// A value from around the forward loop as it is called around this one.
  constexpr id outside(id v) {
    id const here = b.region;
    b.region = b.m.regions[here].parent, --b.depth;
    id const called = outer->forward(v);
    b.region = here, ++b.depth;
    return called;
  }
  /// The node of `v` once more, from forward values as they are called here.
  constexpr id again(node const& n, id v) {
    id const path = b.path, site = b.site;
    id_list<4> operands{};
    for (int i = 0; i < n.operands.count; ++i) operands.add(forward(b.m.operand(n, i)));
    b.path = n.path, b.site = n.site;
    id const copy = b.add(n.kind, n.function, operands, b.m.values[v].type, b.m.values[v].dims,
                          {{n.attribute[0], n.attribute[1], n.attribute[2], n.attribute[3]}});
    b.m.nodes[b.m.values[copy].node].ordinal = n.ordinal;
    b.path = path, b.site = site;
    return copy;
  }

  static constexpr bool is_cheap(primitive p) {
    return p == primitive::elementwise || p == primitive::broadcast || p == primitive::rename;
  }
  /// Whether making `v` again costs arithmetic only: it follows elementwise from what is here already and from at most
  /// one value that is not, no larger than `v`, which is kept instead. So one kept value serves a whole chain.
  constexpr bool remakes(id v) const {
    module const& m = b.m;
    loop const how = loop::of(m.nodes[loop_node]);
    id waiting[24] = {v};
    int count = 1, read = 0;
    id leaf = no_id;
    while (read < count) {
      id const u = waiting[read++];
      node const& n = m.nodes[m.values[u].node];
      bool const is_argument = n.kind == primitive::argument;
      if (u != v && recalled[u] != 0) continue;
      if (is_argument && n.attribute[0] >= how.carries) continue;
      if (n.kind == primitive::random) return false;
      if (n.operands.count == 0 && !is_argument) continue;
      if (!is_cheap(n.kind)) {
        if (u == v || (leaf != no_id && leaf != u) || !m.values[v].dims.includes(m.values[u].dims)) return false;
        leaf = u;
        continue;
      }
      for (int i = 0; i < n.operands.count; ++i) {
        if (count == 24) return false;
        waiting[count++] = m.operand(n, i);
      }
    }
    return true;
  }
  // Makes the forward loop give all iterations' `v`, stacked.
  constexpr id kept(id v) {
    module& m = b.m;
    node& l = m.nodes[loop_node];
    region& body = m.regions[m.region_of(l, 0)];
    require(!m.values[v].dims.has(loop::of(l).dim),
            "G31: the gradient of a loop keeps a tensor that has the loop's own dim: rename that dim before the loop");
    int const already = m.values[v].region == m.region_of(l, 0) ? find_result(body, v, loop::of(l)) : -1;
    if (already >= 0) return m.result(l, already);
    id_list<> inner{}, given{};
    for (int i = 0; i < body.results.count; ++i) inner.add(m.link(body.results, i));
    for (int i = 0; i < l.results.count; ++i) given.add(m.link(l.results, i));
    shape dims = led_by(loop::of(l).dim, m.values[v].dims);
    id const here = b.region;
    b.region = l.region;
    id const stacked = b.add_value(m.values[v].type, dims, loop_node, given.count);
    b.region = here;
    inner.add(v);
    given.add(stacked);
    body.results = b.add_links(inner);
    l.results = b.add_links(given);
    return stacked;
  }
  constexpr int find_result(region const& body, id v, loop const& how) const {
    for (int i = how.carries + how.sums; i < body.results.count; ++i)
      if (b.m.link(body.results, i) == v) return i;
    return -1;
  }
};

}  // namespace meshtensor
