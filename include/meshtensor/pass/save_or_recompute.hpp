// SPDX-License-Identifier: Apache-2.0
// Chooses which forward values to save for the backward loop and which to recompute.
// before: differentiated. Every value that the later loop reads is saved, as a stacked output of the earlier one.
// after: the later loop recomputes values if fewer values are then saved, by a minimum cut. It recomputes them by
// arithmetic alone or, in a checkpointed layer, by any node.
// why: the values saved for every iteration take most of the memory of a training step.
//
// The weight of a value depends only on its dtype and number of dims, because the structure must not depend on extents.
#pragma once

#include "meshtensor/pass/rebuild.hpp"
#include "meshtensor/pass/save_or_recompute/kept_values.hpp"

namespace meshtensor {
namespace detail {

struct saving : rebuild {
  struct addition {
    node_id to;                  // a loop, by its old node
    value_id operand, argument;  // new values
    bool stacked;
  };
  kept_values const& choice;
  addition additions[max_values];
  int addition_count;
  bool remade[max_values];  // whether a stacked argument is recomputed instead
  id again[max_values];     // of an old value: its new value in the loop `again_in`, plus 1
  node_id again_in[max_values];

  constexpr saving(module const& source, module& target, kept_values const& choose)
      : rebuild(source, target), choice(choose), additions{}, addition_count(0), remade{}, again{}, again_in{} {
    left_out = remade;
    for (int v = 0; v < from.value_count; ++v) {
      value_id const o = choice.origin(static_cast<value_id>(v));
      remade[v] = o != v && !choice.kept[choice.canonical(o)];
    }
  }

  constexpr void run() {
    for (int i = 0; i < from.node_count && m.report.empty(); ++i) {
      node const& n = from.nodes[i];
      if (n.kind == primitive::argument && has(from.result(n))) continue;  // it was copied earlier, for another node
      if (n.kind == primitive::argument && remade[from.result(n)]) {
        value_id const v = choice.origin(from.result(n));
        node_id const earlier = static_cast<node_id>(choice.owner[from.values[v].region] - 1);
        replace(from.result(n), made_again(earlier, static_cast<node_id>(choice.owner[n.region] - 1), v));
      } else {
        node_id const made = copy(n);
        if (n.kind == primitive::repeat) append(static_cast<node_id>(i), made);
      }
    }
  }

 private:
  /// The value in the new body of loop `later` for an old value of the body of loop `earlier`. It is saved or
  /// recomputed.
  constexpr value_id made_again(node_id earlier, node_id later, value_id v) {
    v = choice.canonical(v);
    if (again[v] != 0 && again_in[v] == later) return static_cast<value_id>(again[v] - 1);
    node const& n = choice.maker(v);
    value_id made = no_id;
    if (choice.kept[v] || n.kind == primitive::argument) {
      made = crossed(earlier, later, (*this)[choice.in_body(v)]);
    } else {
      id_list<> operands{};
      for (int k = 0; k < n.operands.count; ++k) operands.add(made_again(earlier, later, from.operand(n, k)));
      made = copied_to(later, n, from.values[v], operands);
    }
    again[v] = static_cast<id>(made + 1), again_in[v] = later;
    return made;
  }
  constexpr value_id copied_to(node_id later, node const& n, value const& result, ids operands) {
    b.region = region_of(from.region_of(from.nodes[later], 0)), b.copy = n.copy;
    b.phase = from.nodes[later].phase;
    return b.add_again(n, result, operands);
  }

  /// The value in an iteration of loop `later` for a new value in the same iteration of loop `earlier`.
  constexpr value_id crossed(node_id earlier, node_id later, value_id v) {
    node const& before = m.nodes[m.values[(*this)[from.result(from.nodes[earlier])]].node];
    node const n = m.nodes[m.values[v].node];
    loop const how = loop::of(before);
    if (n.kind == primitive::argument && place_of(n) >= how.carries)
      return argument_for(later, around(earlier, later, m.operand(before, place_of(n))),
                          place_of(n) < how.carries + how.stacked);
    if (n.operands.count == 0 && is_arithmetic(n.kind)) return copied_to(later, n, m.values[v], {});
    value_id const all = b.add_stacked_output(static_cast<node_id>(&before - m.nodes), v);
    return argument_for(later, around(earlier, later, all), true);
  }
  /// The value outside loop `later` for a new value outside loop `earlier`.
  constexpr value_id around(node_id earlier, node_id later, value_id v) {
    region_id const there = from.nodes[earlier].region, here = from.nodes[later].region;
    if (there == here) return v;
    return crossed(static_cast<node_id>(choice.owner[there] - 1), static_cast<node_id>(choice.owner[here] - 1), v);
  }

  /// The argument for a new value from outside, in the body of a loop that is not complete yet.
  constexpr value_id argument_for(node_id later, value_id v, bool stacked) {
    for (int i = 0; i < addition_count; ++i)
      if (additions[i].to == later && additions[i].operand == v && additions[i].stacked == stacked)
        return additions[i].argument;
    node const& l = from.nodes[later];
    loop const how = loop::of(l);
    list const arguments = from.regions[from.region_of(l, 0)].arguments;
    for (int i = how.carries + (stacked ? 0 : how.stacked); i < (stacked ? how.carries + how.stacked : arguments.count);
         ++i) {
      value_id const a = from.link(arguments, i), operand = from.operand(l, i);
      if (!has(operand) || (*this)[operand] != v || remade[a]) continue;
      if (!has(a)) copy(choice.maker(a));
      return (*this)[a];
    }
    node const& maker = m.nodes[m.values[v].node];
    b.region = region_of(from.region_of(l, 0)), b.path = maker.path, b.site = maker.site, b.copy = 0;
    value const like = m.values[v];
    shape dims = like.dims;
    if (stacked) {
      dims = {};
      for (int i = 1; i < like.dims.count; ++i) dims.add(like.dims.at[i]);
    }
    value_id const a = b.add_argument(like, dims);
    b.make_room(addition_count, 1, max_values, "G02", "tensors that loops hand to later ones");
    additions[addition_count++] = {later, v, a, stacked};
    return a;
  }

  // Adds the additional operands to a copied loop.
  constexpr void append(node_id old, node_id made) {
    node& n = m.nodes[made];
    auto& body = m.regions[m.region_of(n, 0)];
    loop how = loop::of(n);
    int const leading = how.carries + how.stacked;
    id_list<> operands{}, arguments{};
    auto const take = [&](int first, int last) {
      for (int i = first; i < last; ++i) operands.add(m.operand(n, i)), arguments.add(m.link(body.arguments, i));
    };
    auto const add = [&](bool stacked) {
      for (int i = 0; i < addition_count; ++i)
        if (additions[i].to == old && additions[i].stacked == stacked)
          operands.add(additions[i].operand), arguments.add(additions[i].argument);
    };
    take(0, leading), add(true);
    how.stacked = operands.count - how.carries;
    take(leading, n.operands.count), add(false);
    if (operands.count == n.operands.count) return;
    for (int i = 0; i < arguments.count; ++i) set_place(m.nodes[m.values[arguments.at[i]].node], i);
    n.operands = b.add_links(operands), body.arguments = b.add_links(arguments);
    how.store(n);
  }
};

}  // namespace detail

/// Returns a module with the same results, bit for bit, but with fewer values saved from forward for backward loops.
///
/// source  minimum cuts for rematerialization: Jain et al., arXiv:1910.02653, section 2, and Chen et al.,
/// arXiv:1604.06174
constexpr module save_or_recompute(module const& m) {
  if (!m.report.empty()) return m;
  detail::kept_values const choice(m);
  meshtensor::module result{};
  detail::saving w(m, result, choice);
  w.run();
  return result;
}

}  // namespace meshtensor
