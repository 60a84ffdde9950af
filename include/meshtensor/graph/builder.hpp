// SPDX-License-Identifier: Apache-2.0
// Builds a module node by node: nodes, regions, and the reads and updates of variables.
#pragma once

#include <initializer_list>

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/graph/outer_values.hpp"
#include "meshtensor/graph/regime_hooks.hpp"
#include "meshtensor/tensor/number.hpp"

namespace meshtensor {

struct builder : outer_values {
  regime_hooks* regime;          // of the program being traced, or null
  bool declared[max_variables];  // by the program being traced
  // Reads and updates of variables in the entry begun last. They are kept because constant evaluation takes a
  // microsecond for each node that a search passes.
  region_id entry;
  int first_of_entry;             // its first node
  bool was_read[max_variables];   // by this entry
  int write_count;                // the updates in it
  node_id writes[max_variables];  // nodes; a rejected attempt may leave some that are no longer updates
  int update_count;
  state_update updates[max_updates];            // in the bodies of loops that are not complete
  id_list<max_operands, name_id> output_names;  // of the program in the innermost mt::steps
  id_list<> output_values;

  // Rows of `writes` and `updates` are set when they are added, because clearing them costs a constant evaluation.
  constexpr explicit builder(module& target)
      : outer_values(target),
        regime(nullptr),
        declared{},
        entry(no_id),
        first_of_entry(0),
        was_read{},
        write_count(0),
        update_count(0),
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
    id_list<> inside{};
    for (value_id o : operands) inside.add(use(o));
    node_id const made = make_node(kind, f, inside, a);
    if (kind == primitive::write && write_count < max_variables) writes[write_count++] = made;
    return made;
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
    m.nodes[--m.node_count] = {};
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
  constexpr value_id add_carry(value_id outer) {
    frame& f = frames[depth - 1];
    outer = at_depth(outer, depth - 1);
    value const v = m.values[outer];
    f.carries.add(add_argument(v, v.dims));
    return f.carries.at[f.carries.count - 1];
  }
  /// The slice of `outer` for this iteration. The leading dim of `outer` must be the loop's.
  constexpr value_id add_stacked(value_id outer) {
    frame& f = frames[depth - 1];
    outer = at_depth(outer, depth - 1);
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
};

}  // namespace meshtensor
