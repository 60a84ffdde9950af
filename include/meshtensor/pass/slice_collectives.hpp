// SPDX-License-Identifier: Apache-2.0
// Moves collectives of a loop's stacked values into the loop: one for each slice.
// before: partitioned.  after: the gradients of a layer are sent while those of the next layer are computed. A loop
// stacks reduced values instead of partial sums. Sharded parameters are gathered layer by layer.
// why: after the loop, ranks would wait for all slices at once. Before it, all layers would be in memory at once.
#pragma once

#include "meshtensor/pass/slice_collectives/steps_of_slices.hpp"

namespace meshtensor {
namespace detail {

struct collective_slicer {
  meshtensor::module const& from;
  rebuild w;
  id uses[max_values];
  id slices[max_values];       // of a value: how many of its uses are by loops over layers, slice by slice
  id of_slice[max_values];     // of a slice that a body returns: the collective after the loop that moves to it, plus 1
  id of_argument[max_values];  // of a slice that a body takes: the last gather before the loop that moves to it, plus 1
  id argument[max_values];     // of such a slice: the new argument, plus 1
  bool moved[max_nodes];

  constexpr collective_slicer(module const& source, module& target)
      : from(source), w(source, target), uses{}, slices{}, of_slice{}, of_argument{}, argument{}, moved{} {
    count_uses();
    for (int i = 0; i < from.node_count; ++i) {
      node const& n = from.nodes[i];
      value_id const slice = slice_for(n);
      if (slice == no_id) continue;
      of_slice[slice] = static_cast<id>(i + 1), moved[i] = true;
      if (has_steps(n)) steps().each(from.operand(n, 0), stack_of(n), [&](node_id step) { moved[step] = true; });
    }
    find_gathers();
    for (int i = 0; i < from.node_count && w.m.report.empty(); ++i) {
      node const& n = from.nodes[i];
      if (moved[i] && n.kind == primitive::all_gather) w.replace(from.result(n), w[from.operand(n, 0)]);
      else if (moved[i] && !steps().is_step(n)) stands_for(n);
      if (moved[i]) continue;
      bool const is_loop = n.kind == primitive::repeat;
      if (is_loop) show_arguments(n, true);
      w.copy(n);
      if (is_loop) show_arguments(n, false);
      for (int k = 0; k < n.results.count; ++k)
        if (of_slice[from.result(n, k)] != 0) begin(from.result(n, k));
      if (n.kind == primitive::argument && of_argument[from.result(n)] != 0) gather(from.result(n));
    }
  }

 private:
  constexpr void count_uses() {
    for (int i = 0; i < from.node_count; ++i)
      for (int k = 0; k < from.nodes[i].operands.count; ++k) ++uses[from.operand(from.nodes[i], k)];
    for (int r = 0; r < from.region_count; ++r)
      for (int k = 0; k < from.regions[r].results.count; ++k) ++uses[from.link(from.regions[r].results, k)];
  }

  /// Whether a value is a variable's value, perhaps in another dtype or placement, and perhaps within a loop.
  constexpr bool is_of_variable(value_id v) const {
    for (;;) {
      node const& n = from.nodes[from.values[v].node];
      if (n.kind == primitive::argument) {
        node const& owner = from.nodes[node_owning(from, n.region)];
        loop const l = loop::of(owner);
        if (owner.kind != primitive::repeat || place_of(n) < l.carries + l.stacked) return false;
        v = from.operand(owner, place_of(n));
      } else if (n.operands.count == 1 && n.regions.count == 0) {
        v = from.operand(n, 0);
      } else {
        return n.kind == primitive::read;
      }
    }
  }
  /// Whether a loop runs over slices of variables, so that it runs over layers. Layers are few and large, in contrast
  /// to the positions of a sequence.
  constexpr bool goes_over_layers(node const& owner) const {
    loop const l = loop::of(owner);
    for (int k = l.carries; k < l.carries + l.stacked; ++k)
      if (is_of_variable(from.operand(owner, k))) return true;
    return false;
  }

  /// Finds the gathers of variables of which only loops over layers take slices. Slices of one dim are small, so they
  /// are gathered together, before the loop.
  constexpr void find_gathers() {
    for (int i = 0; i < from.node_count; ++i) {
      node const& n = from.nodes[i];
      if (n.kind != primitive::repeat) continue;
      loop const l = loop::of(n);
      for (int k = l.carries; k < l.carries + l.stacked; ++k) {
        value_id const stack = from.operand(n, k), slice = argument_of(n, k);
        if (is_of_variable(stack) && from.values[slice].dims.count >= 2 && !is_given(n, slice)) ++slices[stack];
      }
    }
    for (int i = from.node_count; i-- > 0;) {  // of several successive gathers, the last one comes first
      node const& n = from.nodes[i];
      if (n.kind != primitive::all_gather || uses[from.result(n)] == 0) continue;
      moved[i] = slices[from.result(n)] == uses[from.result(n)];
      if (moved[i]) ++slices[from.operand(n, 0)];
    }
    for (int i = 0; i < from.node_count; ++i) {
      node const& n = from.nodes[i];
      if (n.kind != primitive::repeat) continue;
      loop const l = loop::of(n);
      for (int k = l.carries; k < l.carries + l.stacked; ++k)
        if (node_id const maker = from.operand_value(n, k).node;
            moved[maker] && from.nodes[maker].kind == primitive::all_gather)
          of_argument[argument_of(n, k)] = static_cast<id>(maker + 1);
    }
  }
  constexpr value_id argument_of(node const& owner, int operand) const {
    return from.link(from.regions[from.region_of(owner, 0)].arguments, operand);
  }
  constexpr bool is_given(node const& owner, value_id v) const {
    list const results = from.regions[from.region_of(owner, 0)].results;
    for (int k = 0; k < results.count; ++k)
      if (from.link(results, k) == v) return true;
    return false;
  }
  /// Users of the slice get the gathered slice, but the loop itself gets its argument.
  constexpr void show_arguments(node const& owner, bool shown) {
    list const arguments = from.regions[from.region_of(owner, 0)].arguments;
    for (int k = 0; k < arguments.count; ++k) {
      value_id const slice = from.link(arguments, k);
      if (argument[slice] == 0) continue;
      value_id const was = w[slice];
      w.replace(slice, static_cast<value_id>(argument[slice] - 1));
      argument[slice] = shown ? static_cast<id>(was + 1) : no_id;
    }
  }
  /// Gathers a slice right after its argument. Several gathers along the loop's dim become one, from the rank that
  /// holds the slice, and this one comes first.
  constexpr void gather(value_id slice) {
    value const& taken = from.values[slice];
    id_list<max_axes, node_id> chain{};
    for (node_id g = static_cast<node_id>(of_argument[slice] - 1);
         moved[g] && from.nodes[g].kind == primitive::all_gather && chain.count < max_axes;
         g = from.operand_value(from.nodes[g], 0).node)
      chain.add(g);
    value_id v = w[slice];
    argument[slice] = static_cast<id>(v + 1);
    value_id const stack = from.operand(from.nodes[chain.at[chain.count - 1]], 0);
    placement now = placement_of_dims(from.values[stack], taken.dims);
    w.m.values[v].layout = now, w.m.values[v].origin = 0;
    auto const along = [&](node_id g) { return collective_attributes::of(from.nodes[g]).join; };
    auto const add = [&](node const& like, unsigned axes, dim_id join) {
      for (int a = 0; a < max_axes; ++a)
        if ((axes >> a & 1u) != 0) now.unshard(a);
      v = w.b.add_again(like, taken, ids(&v, 1));
      set_attributes(w.m.nodes[w.m.values[v].node], collective_attributes{.axes = axes, .join = join}.packed());
      w.m.values[v].layout = now;
    };
    unsigned owners = 0;
    for (int a = 0; a < max_axes; ++a)
      if (now.sharded_at(a) == placement::of_loop) owners |= 1u << a;
    for (int k = 0; k < chain.count && owners != 0; ++k)
      if (!taken.dims.has(along(chain.at[k]))) {
        add(from.nodes[chain.at[k]], owners, along(chain.at[k]));
        owners = 0;
      }
    for (int k = chain.count; k-- > 0;)
      if (taken.dims.has(along(chain.at[k])))
        add(from.nodes[chain.at[k]], collective_attributes::of(from.nodes[chain.at[k]]).axes, along(chain.at[k]));
    w.m.values[v].origin = taken.origin;
    w.replace(slice, v);
  }

  /// The factor that a number scales, for example g of `g * rate`. It has the product's placement, even if that is
  /// partial. The reason is that partition reshards operands to this placement, and reduces a number before it
  /// multiplies a larger value.
  constexpr value_id scaled_by_number(value_id v) const {
    node const& n = from.nodes[from.values[v].node];
    if (!applies(n, function::multiply)) return no_id;
    for (int k = 0; k < 2; ++k)
      if (from.operand_value(n, 1 - k).dims.count == 0) return from.operand(n, k);
    return no_id;
  }
  /// The operand of a collective without the numbers that scale it, if every value in between is used once.
  constexpr value_id unscaled(node const& n) const {
    value_id v = from.operand(n, 0);
    for (value_id x = v; uses[v] == 1 && (x = scaled_by_number(v)) != no_id;) v = x;
    return v;
  }

  constexpr steps_of_slices steps() const { return {from, uses}; }
  /// The stack from which a collective can move into the loop. Numbers that scale it stay outside, other steps move.
  constexpr value_id stack_of(node const& n) const {
    value_id const v = unscaled(n);
    bool const is_enough =
        n.kind == primitive::local_slice || from.nodes[from.values[v].node].kind == primitive::repeat;
    return is_enough ? v : steps().stack_of(from.operand(n, 0));
  }
  constexpr bool has_steps(node const& n) const { return stack_of(n) != unscaled(n); }

  /// The slice to which a collective can move, or no_id. A loop must stack the collective's operand, perhaps after
  /// steps that work on each slice, and none of these values may have another use. Slices of one dim stay stacked and
  /// are sent together.
  constexpr value_id slice_for(node const& n) const {
    if (n.kind != primitive::all_reduce && n.kind != primitive::reduce_scatter && n.kind != primitive::local_slice)
      return no_id;
    value_id const stack = stack_of(n);
    value const& whole = from.values[stack];
    node const& owner = from.nodes[whole.node];
    if (owner.kind != primitive::repeat || uses[stack] != 1) return no_id;
    loop const l = loop::of(owner);
    if (whole.index < l.carries + l.sums || !goes_over_layers(owner)) return no_id;
    if (n.kind == primitive::local_slice && collective_attributes::of(n).split != l.dim) return no_id;
    value_id const slice = from.link(from.regions[from.region_of(owner, 0)].results, whole.index);
    node const& maker = from.nodes[from.values[slice].node];
    bool const fits = uses[slice] == 1 && maker.kind != primitive::argument && from.values[slice].dims.count >= 2;
    return fits && (!has_steps(n) || steps().may_move(from.operand(n, 0), stack, l.dim)) ? slice : no_id;
  }

  constexpr void begin(value_id slice) {
    node const& c = from.nodes[of_slice[slice] - 1];
    if (c.kind == primitive::local_slice) return;  // each rank stacks the slices of its part
    value_id const operand = has_steps(c) ? steps().add(w, from.operand(c, 0), stack_of(c), w[slice]) : w[slice];
    value const v = w.m.values[operand];
    value_id const made = w.b.add_again(c, v, ids(&operand, 1));
    w.m.values[made].layout = placement_of_dims(from.result_value(c), v.dims);
    w.replace(slice, made);
  }
  constexpr void stands_for(node const& c) {
    value_id const stack = stack_of(c);
    if (has_steps(c)) {
      value const& result = from.result_value(c);
      value& stacked = w.m.values[w[stack]];
      stacked.dims = result.dims, stacked.layout = result.layout, stacked.origin = result.origin;
      return w.replace(from.result(c), w[stack]);
    }
    for (value_id v = from.operand(c, 0);; v = scaled_by_number(v)) {
      value& reduced = w.m.values[w[v]];
      reduced.layout = placement_of_dims(from.result_value(c), reduced.dims);
      if (v == stack) break;
    }
    w.replace(from.result(c), w[from.operand(c, 0)]);
  }
};

}  // namespace detail

/// The module with these collectives moved into loops.
constexpr module slice_collectives(module const& m) {
  meshtensor::module result{};
  if (!m.report.empty()) result.report = m.report;
  else detail::collective_slicer(m, result);
  return result;
}

}  // namespace meshtensor
