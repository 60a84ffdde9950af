// SPDX-License-Identifier: Apache-2.0
// Checks of nodes that own regions (loops, branches, composites), of inputs and of outputs.
#pragma once

#include "meshtensor/graph/rule.hpp"

namespace meshtensor {

namespace detail {
constexpr bool alike(module const& m, id a, id b) {
  return m.values[a].type == m.values[b].type && m.values[a].dims == m.values[b].dims;
}
/// Whether `outer` is `inner` led by `dim`.
constexpr bool stacks(module const& m, id outer, id inner, id dim) {
  return m.values[outer].type == m.values[inner].type && m.values[outer].dims == led_by(dim, m.values[inner].dims);
}
}  // namespace detail

struct source_rule {
  static constexpr char const* verify(module const&, node const&) { return nullptr; }
};

struct wait_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    return detail::alike(m, m.result(n), m.operand(n, 0)) ? nullptr
                                                          : "a wait gives something else than what it waits for";
  }
};

struct effect_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    if (n.operands.count != 1) return "an effect has one operand";
    if (n.kind == primitive::write && !(m.variables[n.attribute[0]].dims == m.operand_value(n, 0).dims))
      return "a write has other dims than its variable";
    return nullptr;
  }
};

struct repeat_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    loop const l = loop::of(n);
    region const& body = m.regions[m.region_of(n, 0)];
    if (body.arguments.count != n.operands.count || body.results.count != n.results.count)
      return "a loop's body takes or gives another number of values than the loop";
    for (int i = 0; i < n.operands.count; ++i) {
      id const outer = m.operand(n, i), inner = m.link(body.arguments, i);
      bool const stacked = i >= l.carries && i < l.carries + l.stacked;
      if (!(stacked ? detail::stacks(m, outer, inner, l.dim) : detail::alike(m, outer, inner)))
        return "an operand of a loop does not fit the argument of its body";
    }
    for (int i = 0; i < n.results.count; ++i) {
      id const outer = m.result(n, i), inner = m.link(body.results, i);
      bool const stacked = i >= l.carries + l.sums;
      if (!(stacked ? detail::stacks(m, outer, inner, l.dim) : detail::alike(m, outer, inner)))
        return "a result of a loop does not fit what its body gives";
    }
    return nullptr;
  }
};

struct while_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    region const& condition = m.regions[m.region_of(n, 0)];
    region const& body = m.regions[m.region_of(n, 1)];
    int const carries = n.attribute[1];
    if (condition.results.count != 1 || m.values[m.link(condition.results, 0)].type != dtype::boolean)
      return "the condition of a while loop is not one bool";
    if (body.results.count != carries || n.results.count != carries + 1)
      return "a while loop gives other carries than it takes";
    for (int i = 0; i < carries; ++i)
      if (!detail::alike(m, m.operand(n, i), m.link(body.results, i)) ||
          !detail::alike(m, m.operand(n, i), m.link(body.arguments, i)))
        return "a carry of a while loop changes its dims or dtype";
    return nullptr;
  }
};

struct cond_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    region const& yes = m.regions[m.region_of(n, 0)];
    region const& no = m.regions[m.region_of(n, 1)];
    if (yes.results.count != n.results.count || no.results.count != n.results.count)
      return "the branches of cond give other results";
    for (int i = 0; i < n.results.count; ++i)
      if (!detail::alike(m, m.link(yes.results, i), m.result(n, i)) ||
          !detail::alike(m, m.link(no.results, i), m.result(n, i)))
        return "the branches of cond give other dims or dtypes";
    return nullptr;
  }
};

struct composite_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    region const& body = m.regions[m.region_of(n, 0)];
    if (body.arguments.count != n.operands.count || body.results.count != n.results.count)
      return "a composite takes or gives another number of values than its body";
    for (int i = 0; i < n.operands.count; ++i)
      if (!detail::alike(m, m.operand(n, i), m.link(body.arguments, i)))
        return "an operand of a composite does not fit its body";
    for (int i = 0; i < n.results.count; ++i)
      if (!detail::alike(m, m.result(n, i), m.link(body.results, i)))
        return "a result of a composite does not fit its body";
    return nullptr;
  }
};

}  // namespace meshtensor
