// SPDX-License-Identifier: Apache-2.0
// Finds the values of a loop's body whose cotangents the backward loop computes.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/pass/copy_region.hpp"
#include "meshtensor/pass/differentiate/zero_values.hpp"
#include "meshtensor/pass/inline_composites.hpp"

namespace meshtensor::detail {

/// The values in the bodies of a loop and its inner loops from which the loss is computed in some iteration. Other
/// carries have no cotangent. A cotangent of zeros would be wrong, because zero times a derivative that is not finite
/// is NaN.
class needed_cotangents {
 public:
  constexpr explicit needed_cotangents(differentiation const& d) : d_(d), m_(d.b.m) {}

  constexpr bool has(value_id v) const { return needed_[v]; }
  constexpr void need(value_id v) { needed_[v] = needed_[v] || d_.differentiable(v); }

  /// Goes from the needed results of a loop's body to all other values of the body that they depend on. A carry may be
  /// needed for the next iteration.
  constexpr void follow_loop(int loop_node) {
    node const& n = m_.nodes[loop_node];
    region const& body = m_.regions[m_.region_of(n, 0)];
    for (bool changed = true; changed;) {
      changed = false;
      follow(m_.region_of(n, 0), begin_of(body, loop_node), loop_node);
      for (int k = 0; k < loop::of(n).carries; ++k) {
        value_id const given = m_.link(body.results, k);
        if (!has(m_.link(body.arguments, k)) || has(given)) continue;
        need(given);
        changed = changed || has(given);
      }
    }
  }

 private:
  constexpr int begin_of(region const& r, int owner) const {
    return r.arguments.count == 0 ? owner : m_.values[m_.link(r.arguments, 0)].node;
  }

  constexpr void follow(region_id r, int begin, int end) {
    for (int i = end; i-- > begin;) {
      node const& n = m_.nodes[i];
      if (n.region != r) continue;
      bool any = false;
      for (int k = 0; k < n.results.count; ++k) any = any || has(m_.result(n, k));
      if (!any) continue;
      if (n.kind == primitive::repeat) follow_inner_loop(i);
      else if (n.kind == primitive::composite) follow_composite(i);
      else if (!applies(n, function::sign) && !applies(n, function::floor))  // these derivatives are zero everywhere
        for (int k = 0; k < n.operands.count; ++k) need(m_.operand(n, k));
    }
  }
  constexpr void follow_inner_loop(int i) {
    node const& n = m_.nodes[i];
    region const& body = m_.regions[m_.region_of(n, 0)];
    for (int k = 0; k < n.results.count; ++k)
      if (has(m_.result(n, k))) need(m_.link(body.results, k));
    follow_loop(i);
    for (int k = 0; k < n.operands.count; ++k)
      if (has(m_.link(body.arguments, k)) || has_final(n, k)) need(m_.operand(n, k));
  }
  // A loop that ends early may run no iteration. Then it returns the start of the carry.
  constexpr bool has_final(node const& n, int k) const {
    return loop::of(n).ends_early && k < loop::of(n).carries && has(m_.result(n, k));
  }

  // Follows a composite as `composite_backwards` does: first its own gradient, then its body.
  constexpr void follow_composite(int i) {
    node const& n = m_.nodes[i];
    int const taken = cotangents_taken(m_, n);
    bool own = false, others = false;
    for (int k = 0; k < n.results.count; ++k)
      if (has(m_.result(n, k))) (k < taken ? own : others) = true;
    if (own) {
      region const& r = m_.regions[m_.region_of(n, 1)];
      zero_values zeros;
      for (int k = 0; k < taken; ++k)
        if (!has(m_.result(n, k))) zeros.add(m_.link(r.arguments, n.operands.count + n.results.count + k));
      zeros.follow(m_, m_.region_of(n, 1), begin_of(r, i), i);
      for (int k = 0; k < n.operands.count; ++k)
        if (!zeros.has(m_.link(r.results, k))) need(m_.operand(n, k));
    }
    if (others) {
      region_copy body(d_.b, static_cast<node_id>(i), 0);
      for (int k = taken; k < n.results.count; ++k)
        if (has(m_.result(n, k))) body.need(k);
      body.find_needed();
      for (int k = 0; k < n.operands.count; ++k)
        if (body.needs_argument(k)) need(m_.operand(n, k));
    }
  }

  differentiation const& d_;
  meshtensor::module const& m_;
  bool needed_[max_values] = {};
};

}  // namespace meshtensor::detail
