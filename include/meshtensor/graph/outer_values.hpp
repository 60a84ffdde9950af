// SPDX-License-Identifier: Apache-2.0
// The values from outside that open loops, branches and eaches use. A region has an argument for each of them, and an
// each has a view.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/frame.hpp"
#include "meshtensor/graph/open_each.hpp"
#include "meshtensor/graph/value_builder.hpp"

namespace meshtensor {

struct outer_values : value_builder {
  static constexpr int max_depth = 8, max_eaches = 4;
  int depth;                // the number of open loops, branches and composites
  frame frames[max_depth];  // theirs
  int each_count;
  open_each eaches[max_eaches];

  // Frames and eaches are set when they are opened, because clearing them costs a constant evaluation.
  constexpr explicit outer_values(module& target) : value_builder(target), depth(0), each_count(0) {}

  /// Adds a node without results, whose operands are values of the current region.
  constexpr node_id make_node(primitive kind, std::uint8_t f, ids operands, attributes const& a = {}) {
    make_room(m.node_count, 1, max_nodes, "G02", "nodes");
    node& n = m.nodes[m.node_count];
    n.kind = kind, n.function = f, n.region = region, n.path = path, n.site = site, n.copy = copy;
    n.phase = phase, n.called = called;
    set_attributes(n, a);
    n.operands = add_links(operands);
    n.results = {static_cast<id>(m.link_count), 0};
    return static_cast<node_id>(m.node_count++);
  }
  constexpr value_id add_argument(value const& like, shape const& dims) {
    return add_result(make_node(primitive::argument, 0, {}), like.type, dims);
  }

  /// The id of `v` in the current region, as one index of the open eaches sees it. It is `v` itself, the argument that
  /// stands for an outer value, or a view of either.
  constexpr value_id use(value_id v) {
    if (each_count == 0 && m.values[v].region == region) return v;
    return at_depth(v, depth);
  }

  // eaches
  /// Opens an `each`. Nodes are made for one of its indices until `end_each`.
  constexpr void begin_each(dim_id dim, bool shares_variables, bool starts_equal) {
    if (!expect(each_count < max_eaches, "G42 each and map are nested more than 4 deep")) --each_count;
    open_each& e = eaches[each_count++];
    e.dim = dim, e.shares_variables = shares_variables, e.starts_equal = starts_equal, e.depth = depth;
    e.first = static_cast<value_id>(m.value_count), e.outside.count = e.inside.count = 0;
  }
  constexpr void end_each() { each_count -= each_count > 0; }
  /// The position of the open each over `dim`, or -1 if there is none.
  constexpr int find_each(dim_id dim) const {
    for (int e = 0; e < each_count; ++e)
      if (eaches[e].dim == dim) return e;
    return -1;
  }
  /// How one index of an open each sees `v`, a value from outside in the region in which the each was opened. It is
  /// the slice along the each's dim. A value without the dim is seen as it is, but under another id, so that a gradient
  /// by it can be taken for each index.
  constexpr value_id view(int which, value_id v) {
    open_each& e = eaches[which];
    if (value_id const known = found(e.outside, e.inside, v); known != no_id) return known;
    value const like = m.values[v];
    shape dims{};
    for (int i = 0; i < like.dims.count; ++i)
      if (like.dims.at[i] != e.dim) dims.add(like.dims.at[i]);
    region_id const here = region;
    int const inner = each_count, deep = depth;
    region = region_at(e.depth), depth = e.depth, each_count = which;
    value_id const seen =
        add_result(make_node(primitive::hide, 0, ids(&v, 1), view_attributes{e.dim, false}.packed()), like.type, dims);
    region = here, depth = deep, each_count = inner;
    expect(e.outside.count < id_list<>::most,
           "G12 an each or map uses more than 1024 tensors from outside: stack tensors that are alike along a dim");
    e.outside.add(v), e.inside.add(seen);
    return seen;
  }
  /// The slice that one index of an open each sees of `v`, which was made outside, or inside for all indices.
  constexpr value_id slice(int which, value_id v) {
    open_each const& e = eaches[which];
    if (v < e.first) return view(which, from_outside(which, v));
    shape dims{};
    for (int i = 0; i < m.values[v].dims.count; ++i)
      if (m.values[v].dims.at[i] != e.dim) dims.add(m.values[v].dims.at[i]);
    region_id const here = region;
    int const inner = each_count, deep = depth, level = depth_of_value(v);
    if (level >= 0) region = region_at(level), depth = level, each_count = which + 1;
    value_id const whole = use(v);
    value_id const seen = add_result(
        make_node(primitive::hide, 0, ids(&whole, 1), view_attributes{e.dim, false}.packed()), m.values[v].type, dims);
    region = here, depth = deep, each_count = inner;
    return seen;
  }
  /// The id under which the current position uses `v`, a value of the entry, or no_id if it does not use it.
  constexpr value_id find_use(value_id v) const {
    for (int level = 0; level <= depth; ++level) {
      if (level > 0) {
        frame const& f = frames[level - 1];
        value_id const inside = found(f.invariants, f.invariant_arguments, v);
        v = inside != no_id ? inside : found(f.stacked, f.stacked_arguments, v);
      }
      for (int k = 0; k < each_count && v != no_id; ++k)
        if (eaches[k].depth == level) v = found(eaches[k].outside, eaches[k].inside, v);
      if (v == no_id) break;
    }
    return v;
  }
  /// The number of loops and branches that were open where a value was made, or -1 if it is in a region that is closed.
  constexpr int depth_of_value(value_id v) const {
    for (int level = depth; level >= 0; --level)
      if (region_at(level) == m.values[v].region) return level;
    return -1;
  }
  /// The id of `v` where `level` loops and branches are open.
  constexpr value_id at_depth(value_id v, int level) {
    value_id here = m.values[v].region == region_at(level) ? v : level == 0 ? used_outside(v) : import(v, level - 1);
    for (int k = 0; k < each_count; ++k) {
      if (eaches[k].depth != level || v >= eaches[k].first) continue;
      if (m.values[here].dims.has(eaches[k].dim)) return seen_whole(here, eaches[k].dim);
      here = view(k, here);
    }
    return here;
  }

 private:
  // The id of `v` where an open each was opened.
  constexpr value_id from_outside(int which, value_id v) {
    int const inner = each_count;
    each_count = which;
    value_id const whole = at_depth(v, eaches[which].depth);
    each_count = inner;
    return whole;
  }
  static constexpr value_id found(id_list<> const& outside, id_list<> const& inside, value_id v) {
    for (int i = 0; i < outside.count; ++i)
      if (outside.at[i] == v) return inside.at[i];
    return no_id;
  }
  constexpr region_id region_at(int level) const { return level == depth ? region : frames[level].around; }
  constexpr value_id seen_whole(value_id v, dim_id dim) {
    diagnostic d{};
    add_type(d << "G44 an each over '" << m.dim_name(dim) << "' uses a tensor from outside that has this dim, ", m,
             m.values[v].type, m.values[v].dims);
    note(d << ": pass it as an operand, of which each index sees its slice, or rename the dim to use all of it");
    return v;
  }
  constexpr value_id used_outside(value_id v) {
    diagnostic d{};
    add_type(d << "G23 a tensor ", m, m.values[v].type, m.values[v].dims);
    note(add_made(d, m, v)
         << " inside a loop or branch is used outside of it: return it from the body, and use what the "
            "loop gives");
    return v;
  }
  constexpr value_id import(value_id v, int level) {
    frame& f = frames[level];
    if (m.values[v].region == f.region) return v;
    value_id const outer = at_depth(v, level);
    for (int i = 0; i < f.invariants.count; ++i)
      if (f.invariants.at[i] == outer) return f.invariant_arguments.at[i];
    value const like = m.values[outer];
    region_id const here = region;
    region = f.region;
    value_id const argument = add_argument(like, like.dims);
    region = here;
    f.invariants.add(outer);
    f.invariant_arguments.add(argument);
    return argument;
  }
};

}  // namespace meshtensor
