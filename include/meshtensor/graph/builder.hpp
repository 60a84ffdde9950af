// SPDX-License-Identifier: Apache-2.0
// Builds a module node by node. It keeps the lists, and it turns outer values that a region uses into arguments of the
// region.
#pragma once

#include <initializer_list>

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/frame.hpp"
#include "meshtensor/graph/open_each.hpp"
#include "meshtensor/graph/value_builder.hpp"
#include "meshtensor/tensor/number.hpp"

namespace meshtensor {

struct builder : value_builder {
  static constexpr int max_depth = 8;
  static constexpr int max_step_outputs = 64;
  int depth;
  frame frames[max_depth];
  static constexpr int max_eaches = 4;
  int each_count;
  open_each eaches[max_eaches];
  bool declared[max_variables];  // by the program being traced
  // Reads and updates of variables in the entry begun last. They are kept because constant evaluation takes a
  // microsecond for each node that a search passes.
  region_id entry;
  int first_of_entry;             // its first node
  bool was_read[max_variables];   // by this entry
  int write_count;                // the updates in it
  node_id writes[max_variables];  // nodes; a rejected attempt may leave some that are no longer updates
  int update_count;
  state_update updates[max_updates];                // in the bodies of loops that are not complete
  id_list<max_step_outputs, name_id> output_names;  // of the program in the innermost mt::steps
  id_list<max_step_outputs> output_values;

  constexpr explicit builder(module& target)
      : value_builder(target),
        depth(0),
        frames{},
        each_count(0),
        eaches{},
        declared{},
        entry(no_id),
        first_of_entry(0),
        was_read{},
        write_count(0),
        writes{},
        update_count(0),
        updates{},
        output_names{},
        output_values{} {}

  using table_builder::add_number;
  /// Adds the rows of a number, which may be an expression. Returns its last row.
  constexpr number_id add_number(number const& n) {
    if (!expect(n.owner == nullptr || n.owner == this, "G18 a number of one program is used in another") ||
        !expect(n.count <= number::capacity,
                "G11 a number is an expression of more than 24 terms: compute a part of it as a tensor"))
      return literal(1);
    number_id stack[number::capacity] = {};
    int top = 0;
    for (int i = 0; i < n.count; ++i) {
      auto const& item = n.items[i];
      if (item.kind == number::item::literal) stack[top++] = literal(item.value);
      if (item.kind == number::item::row) stack[top++] = item.id;
      if (item.kind == number::item::extent)
        stack[top++] = item.value != 0 && !has_dim(*item.dim)
                           ? literal(item.value)
                           : add_number({number_row::extent, function::copy, find_dim(*item.dim), no_id, 0});
      if (item.kind == number::item::apply) {
        int const n_operands = arity(item.f);
        number_id const second = n_operands == 2 ? stack[--top] : no_id;
        stack[top - 1] = add_number({number_row::expression, item.f, stack[top - 1], second, 0});
      }
    }
    return stack[0];
  }

  // nodes
  /// Adds a node without results at the current position. Outer values among `operands` are imported into the region.
  constexpr node_id add_node(primitive kind, std::uint8_t f, ids operands, attributes const& a = {}) {
    make_room(m.node_count, 1, max_nodes, "G02", "nodes");
    id_list<> inside{};
    for (value_id o : operands) inside.add(use(o));
    node& n = m.nodes[m.node_count];
    n.kind = kind, n.function = f, n.region = region, n.path = path, n.site = site, n.copy = copy;
    n.phase = phase, n.called = called;
    set_attributes(n, a);
    n.operands = add_links(inside);
    n.results = {static_cast<id>(m.link_count), 0};
    if (kind == primitive::write && write_count < max_variables)
      writes[write_count++] = static_cast<node_id>(m.node_count);
    return static_cast<node_id>(m.node_count++);
  }
  /// Adds a node with one result.
  constexpr value_id add(primitive kind, std::uint8_t f, ids operands, dtype type, shape const& dims,
                         attributes const& a = {}) {
    node_id const n = add_node(kind, f, operands, a);
    return add_result(n, type, dims);
  }
  constexpr value_id add(primitive kind, std::initializer_list<value_id> operands, dtype type, shape const& dims,
                         attributes const& a = {}) {
    return add(kind, 0, ids(operands.begin(), operands.size()), type, dims, a);
  }

  /// Adds a copy of node `n` with other operands. `n` must have one result and own no region.
  constexpr value_id add_again(node const& n, value const& result, ids operands) {
    value_id const made = add(n.kind, n.function, operands, result.type, result.dims, attributes_of(n));
    node& again = m.nodes[m.values[made].node];
    again.path = n.path, again.site = n.site, again.ordinal = n.ordinal, again.called = n.called;
    return made;
  }

  /// The node that updates a variable in an entry, or no_id if there is none.
  constexpr node_id find_write(region_id in, variable_id which) const {
    auto const is_it = [&](node const& n) {
      return n.kind == primitive::write && variable_of(n) == which && n.region == in;
    };
    if (in == entry && write_count < max_variables) {
      for (int i = 0; i < write_count; ++i)
        if (writes[i] < m.node_count && is_it(m.nodes[writes[i]])) return writes[i];
      return no_id;
    }
    for (int i = 0; i < m.node_count; ++i)
      if (is_it(m.nodes[i])) return static_cast<node_id>(i);
    return no_id;
  }

  /// Removes a write of the entry, which has no results, because another one follows.
  constexpr void remove_write(node_id which) {
    for (int i = which + 1; i < m.node_count; ++i) m.nodes[i - 1] = m.nodes[i];
    --m.node_count;
    for (int v = 0; v < m.value_count; ++v)
      if (m.values[v].node > which) m.values[v].node = static_cast<node_id>(m.values[v].node - 1);
    for (int i = 0; i < write_count; ++i)
      if (writes[i] > which) writes[i] = static_cast<node_id>(writes[i] - 1);
      else if (writes[i] == which) writes[i--] = writes[--write_count];
  }

  // loops that are complete
  /// Adds `v`, a value of a loop's body, to the loop's results. The result has the values of all iterations, stacked.
  constexpr value_id add_stacked_output(node_id loop_node, value_id v) {
    node& l = m.nodes[loop_node];
    auto& body = m.regions[m.region_of(l, 0)];
    loop const how = loop::of(l);
    for (int i = how.carries + how.sums; i < body.results.count; ++i)
      if (m.link(body.results, i) == v) return m.result(l, i);
    if (m.values[v].dims.has(how.dim)) {
      diagnostic d{};
      note(d << "G31 the gradient of a loop over '" << m.dim_name(how.dim)
             << "' keeps a tensor that has this dim itself: rename that dim before the loop");
      return m.result(l);
    }
    id_list<> inner{}, given{};
    for (int i = 0; i < l.results.count; ++i) inner.add(m.link(body.results, i)), given.add(m.result(l, i));
    region_id const here = region;
    region = l.region;
    inner.add(v), given.add(add_value(m.values[v].type, led_by(how.dim, m.values[v].dims), loop_node, given.count));
    region = here;
    body.results = add_links(inner), l.results = add_links(given);
    return given.at[given.count - 1];
  }

  // regions
  constexpr region_id begin_region(region_kind kind, name_id label) {
    make_room(m.region_count, 1, max_regions, "G20", region_rows);
    if (region == m.region_count) return region;  // the last row again, which must not be its own parent
    region_id const r = static_cast<region_id>(m.region_count++);
    m.regions[r] = {kind, false, label, region, {}, {}};
    region = r;
    if (kind == region_kind::entry) {
      entry = r, first_of_entry = m.node_count, write_count = 0;
      for (int v = 0; v < m.variable_count; ++v) was_read[v] = false;
    }
    return r;
  }
  /// Opens a region that may use outer values.
  constexpr frame& begin_frame(region_kind kind, name_id label, dim_id loop_dim, bool shares_parameters) {
    if (!expect(depth < max_depth, "G21 loops and branches are nested more than 8 deep")) --depth;
    region_id const around = region;
    begin_region(kind, label);
    frame& f = frames[depth++];
    f = {};
    f.region = region, f.around = around, f.loop_dim = loop_dim, f.shares_parameters = shares_parameters;
    return f;
  }
  constexpr value_id add_argument(value const& like, shape const& dims) {
    return add(primitive::argument, {}, like.type, dims);
  }
  constexpr value_id add_carry(value_id outer) {
    frame& f = frames[depth - 1];
    outer = at_depth(outer, depth - 1);  // an index of an each sees its slice of it
    value const v = m.values[outer];
    f.carries.add(add_argument(v, v.dims));
    return f.carries.at[f.carries.count - 1];
  }
  /// The slice of `outer` for this iteration. The leading dim of `outer` must be the loop's.
  constexpr value_id add_stacked(value_id outer) {
    frame& f = frames[depth - 1];
    outer = at_depth(outer, depth - 1);  // an index of an each sees its slice of it
    for (int i = 0; i < f.stacked.count; ++i)
      if (f.stacked.at[i] == outer) return f.stacked_arguments.at[i];
    value const v = m.values[outer];
    expect(v.dims.count > 0 && v.dims.at[0] == f.loop_dim, "G22 a stacked operand leads with the dim of its loop");
    shape dims{};
    for (int i = 1; i < v.dims.count; ++i) dims.add(v.dims.at[i]);
    f.stacked.add(outer);
    f.stacked_arguments.add(add_argument(v, dims));
    return f.stacked_arguments.at[f.stacked_arguments.count - 1];
  }
  /// Closes the innermost frame: numbers its arguments and stores the region's lists. The caller makes the owner node.
  constexpr frame end_frame(ids results) {
    if (depth > 0) --depth;  // else too many were open (G21)
    frame const f = frames[depth];
    id_list<> all{};
    all.add_all(f.carries), all.add_all(f.stacked_arguments), all.add_all(f.invariant_arguments);
    for (int i = 0; i < all.count; ++i) set_place(m.nodes[m.values[all.at[i]].node], i);
    auto& r = m.regions[f.region];
    r.arguments = add_links(all);
    r.results = add_links(results);
    region = f.around;
    return f;
  }
  /// The id of `v` in the current region, as one index of the open eaches sees it. It is `v` itself, the argument that
  /// stands for an outer value, or a view of either.
  constexpr value_id use(value_id v) {
    if (each_count == 0 && m.values[v].region == region) return v;
    return at_depth(v, depth);
  }

  // eaches
  /// Opens an `each`. Nodes are made for one of its indices until `end_each`.
  constexpr void begin_each(dim_id dim, bool shares_variables) {
    if (!expect(each_count < max_eaches, "G42 each and map are nested more than 4 deep")) --each_count;
    open_each& e = eaches[each_count++];
    e.dim = dim, e.shares_variables = shares_variables, e.depth = depth;
    e.first = static_cast<value_id>(m.value_count), e.outside.count = e.inside.count = 0;
  }
  constexpr void end_each() { each_count -= each_count > 0; }
  /// The position of the open each over `dim`, or -1 if there is none.
  constexpr int find_each(dim_id dim) const {
    for (int e = 0; e < each_count; ++e)
      if (eaches[e].dim == dim) return e;
    return -1;
  }
  /// How one index of an open each sees `v`, a value from outside in the region in which the each was opened. It is the
  /// slice along the each's dim. A value without the dim is seen as it is, but under another id, so that a gradient by it
  /// can be taken for each index.
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
    value_id const seen = add(primitive::hide, {v}, like.type, dims, view_attributes{e.dim, false}.packed());
    region = here, depth = deep, each_count = inner;
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
    value_id const seen = add(primitive::hide, {v}, m.values[v].type, dims, view_attributes{e.dim, false}.packed());
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
