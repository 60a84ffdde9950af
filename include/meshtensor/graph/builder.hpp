// SPDX-License-Identifier: Apache-2.0
// Builds a module node by node: interns names, keeps lists, and turns outer values that a region uses into its
// arguments.
#pragma once

#include <bit>
#include <initializer_list>

#include "meshtensor/graph/frame.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/tensor/number.hpp"

namespace meshtensor {

/// Attributes of a node, in the order of primitive.hpp.
struct attributes {
  id at[4];
};

struct builder {
  static constexpr int max_depth = 8;
  meshtensor::module& m;
  id region;          // of new nodes
  id path;            // of new nodes; no_id: the root
  id site;            // the user's line of new nodes
  bool site_is_held;  // nodes of the library's own layers report the line that called the layer
  id copy;            // of new nodes; see node::copy
  int depth;
  frame frames[max_depth];
  bool declared[max_variables];  // by the program being traced

  constexpr explicit builder(module& target)
      : m(target),
        region(no_id),
        path(no_id),
        site(no_id),
        site_is_held(false),
        copy(0),
        depth(0),
        frames{},
        declared{} {}

  /// Reports an error in the program, with the current line. At run time it is thrown. At compile time the first error
  /// is stored, and the caller goes on with a harmless value, so that the module is complete and its report can be
  /// shown.
  constexpr void note(diagnostic d) { find(add_line(d, m, site)); }
  /// Reports an error whose sentence already has its lines.
  constexpr void find(diagnostic const& d) {
    if (!m.report.empty()) return;
    if (!std::is_constant_evaluated()) raise(d);
    m.report = d;
  }
  /// Reports a sentence, `G04 a scope …`, unless a condition holds; returns the condition.
  constexpr bool expect(bool holds, char const* sentence) {
    if (!holds) {
      diagnostic d{};
      note(d << sentence);
    }
    return holds;
  }
  static constexpr char const* region_rows = "regions (loops, branches, kernels, composites and their gradients)";
  /// Makes room for rows of a table. If it is full, its last rows are overwritten: the program is rejected anyway.
  constexpr void make_room(int& count, int wanted, int capacity, char const* code, char const* what) {
    if (count + wanted <= capacity) return;
    diagnostic d{};
    note(d << code << " the program has more than " << capacity << " " << what
           << ": write equal layers as one repeat, or compile with -DMESHTENSOR_MAX_NODES="
           << (max_nodes < 4096 ? 4096 : 2 * max_nodes) << ", which makes room for more");
    count = capacity - wanted;
  }

  // tables
  constexpr id intern(name const& n) {
    for (int i = 0; i < m.name_count; ++i)
      if (m.names[i] == n) return static_cast<id>(i);
    make_room(m.name_count, 1, max_names, "G13", "names");
    m.names[m.name_count] = n;
    return static_cast<id>(m.name_count++);
  }

  constexpr id dim(name const& label, extent_rule const& rule) {
    for (int i = 0; i < m.dim_count; ++i)
      if (m.names[m.dims[i].label] == label) {
        if (!same_rule(m.dims[i], rule)) find_two_extents(m.dims[i], rule);
        return static_cast<id>(i);
      }
    dim_row row{static_cast<dim_row::kind_t>(rule.kind), intern(label), no_id, no_id, rule.value};
    if (rule.kind > extent_rule::dynamic) {
      row.first = find_dim(rule.first, label);
      if (rule.kind != extent_rule::shifted) row.second = find_dim(rule.second, label);
    }
    return add_dim(row);
  }
  /// The dim of a name that an extent expression or a number uses. If no tensor has it, reports T08 and adds a dynamic
  /// dim.
  constexpr id find_dim(name const& label, name const& made = {}) {
    for (int i = 0; i < m.dim_count; ++i)
      if (m.names[m.dims[i].label] == label) return static_cast<id>(i);
    diagnostic d{};
    if (made.empty()) d << "T08 a number";
    else d << "T08 the dim '" << made << "'";
    note(d << " is made from the extent of '" << label << "', a dim that no tensor of this program has had before");
    return add_dim({dim_row::dynamic, intern(label), no_id, no_id, 0});
  }
  /// A dim of the library's own with the extent of dim `d`, for operations that need a second one.
  constexpr id dim_like(id d) {
    for (int i = 0; i < m.dim_count; ++i)
      if (m.dims[i].kind == dim_row::same && m.dims[i].first == d) return static_cast<id>(i);
    return add_dim({dim_row::same, own_label(d, "again"), d, no_id, 0});
  }
  /// A label for a dim that is made from another one: `length/blocks`; with a number if there is such a dim already.
  constexpr id own_label(id of, char const* what) {
    bool const fits = m.dim_name(of).size() + 12 <= name::capacity;
    auto const label = [&](int number) {
      diagnostic d{};
      if (fits) d << m.dim_name(of) << "/" << what;
      else d << "dim " << of << "/" << what;
      if (number != 0) d << number;
      return name::of(d.view());
    };
    return intern(has_dim(label(0)) ? label(m.dim_count) : label(0));
  }
  constexpr bool has_dim(name const& label) const {
    for (int i = 0; i < m.dim_count; ++i)
      if (m.names[m.dims[i].label] == label) return true;
    return false;
  }
  constexpr id add_dim(dim_row const& row) {
    if (!expect(m.dim_count < max_dims, "G14 a program has at most 128 dims")) return max_dims - 1;
    m.dims[m.dim_count] = row;
    return static_cast<id>(m.dim_count++);
  }

  constexpr id add_path(id parent, id label) {
    for (int i = 0; i < m.path_count; ++i)
      if (m.paths[i].parent == parent && m.paths[i].label == label) return static_cast<id>(i);
    make_room(m.path_count, 1, max_paths, "G15", "paths, those of the optimizer included");
    if (parent == m.path_count) return parent;  // the last row again, which must not be its own parent
    m.paths[m.path_count] = {parent, label};
    return static_cast<id>(m.path_count++);
  }
  /// A name with a slash is a path: `s.parameter("item/bias", …)` is `(s / "item").parameter("bias", …)`.
  constexpr id add_path(id parent, name const& label) {
    char part[name::capacity] = {};
    std::size_t length = 0;
    for (std::size_t i = 0; i < label.size(); ++i) {
      if (label[i] != '/') {
        part[length++] = label[i];
      } else if (length != 0) {
        parent = add_path(parent, intern(name::of({part, length})));
        length = 0;
      }
    }
    if (length == label.size()) return add_path(parent, intern(label));
    return length == 0 ? parent : add_path(parent, intern(name::of({part, length})));
  }

  constexpr id add_site(char const* file, std::uint32_t number) {
    make_room(m.site_count, 1, max_values, "G16", "lines");
    m.sites[m.site_count] = {file, number};
    return static_cast<id>(m.site_count++);
  }

  constexpr id add_number(number_row const& row) {
    for (int i = 0; i < m.number_count; ++i) {
      number_row const& r = m.numbers[i];
      if (r.kind == row.kind && r.f == row.f && r.first == row.first && r.second == row.second &&
          std::bit_cast<std::uint64_t>(r.value) == std::bit_cast<std::uint64_t>(row.value))
        return static_cast<id>(i);
    }
    make_room(m.number_count, 1, max_numbers, "G17", "numbers");
    m.numbers[m.number_count] = row;
    return static_cast<id>(m.number_count++);
  }
  /// A number that is set by name, declared at the current line.
  constexpr id add_named_number(name const& label, double unless_set) {
    id const name_id = intern(label);
    for (int i = 0; i < m.number_count; ++i) {
      number_row const& r = m.numbers[i];
      if (r.kind != number_row::named || r.first != name_id) continue;
      if (std::bit_cast<std::uint64_t>(r.value) != std::bit_cast<std::uint64_t>(unless_set)) {
        diagnostic d{};
        add_real(d << "G03 the number '" << label << "' is declared twice, as ", r.value);
        add_real(add_line(d, m, r.second) << " and as ", unless_set);
        find(add_line(d, m, site) << ": give both the same value, or one of them another name");
      }
      return static_cast<id>(i);
    }
    return add_number({number_row::named, function::copy, name_id, site, unless_set});
  }
  constexpr id literal(double v) { return add_number({number_row::literal, function::copy, no_id, no_id, v}); }
  constexpr id add_number(number const& n) {
    if (!expect(n.owner == nullptr || n.owner == this, "G18 a number of one program is used in another") ||
        !expect(n.count <= number::capacity,
                "G11 a number is an expression of more than 24 terms: compute a part of it as a tensor"))
      return literal(1);
    id stack[number::capacity] = {};
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
        id const second = n_operands == 2 ? stack[--top] : no_id;
        stack[top - 1] = add_number({number_row::expression, item.f, stack[top - 1], second, 0});
      }
    }
    return stack[0];
  }

  constexpr list add_links(ids l) {
    if (!expect(l.size() <= id_list<>::most,
                "G12 one node has more than 192 operands or results, as a gradient by so many parameters: write equal "
                "layers as one repeat"))
      l = l.first(id_list<>::most);
    make_room(m.link_count, static_cast<int>(l.size()), max_links, "G02", "operands and results");
    list const result{static_cast<id>(m.link_count), static_cast<id>(l.size())};
    for (id i : l) m.links[m.link_count++] = i;
    return result;
  }

  // values and nodes
  constexpr id add_value(dtype type, shape dims, id node_id, int index) {
    make_room(m.value_count, 1, max_values, "G02", "tensors");
    if (!expect(dims.fits(), "T07 a tensor has more than 8 dims: merge some, or sum over them before")) --dims.count;
    value& v = m.values[m.value_count];
    v.type = type, v.dims = dims, v.node = node_id, v.region = region, v.index = static_cast<std::uint8_t>(index);
    return static_cast<id>(m.value_count++);
  }

  /// Adds a node without results at the current position. `operands` are imported into the region.
  constexpr id add_node(primitive kind, std::uint8_t f, ids operands, attributes const& a = {}) {
    make_room(m.node_count, 1, max_nodes, "G02", "nodes");
    id_list<> inside{};
    for (id o : operands) inside.add(use(o));
    node& n = m.nodes[m.node_count];
    n.kind = kind, n.function = f, n.region = region, n.path = path, n.site = site, n.copy = copy;
    for (int i = 0; i < 4; ++i) n.attribute[i] = a.at[i];
    n.operands = add_links(inside);
    n.results = {static_cast<id>(m.link_count), 0};
    return static_cast<id>(m.node_count++);
  }
  /// Adds one more result to the last node made.
  constexpr id add_result(id node_id, dtype type, shape const& dims) {
    node& n = m.nodes[node_id];
    id const v = add_value(type, dims, node_id, n.results.count);
    if (n.results.count == 0) n.results.first = static_cast<id>(m.link_count);
    expect(n.results.first + n.results.count == m.link_count, "G19 results are added to the last node only");
    add_links(std::initializer_list<id>{v});
    ++n.results.count;
    return v;
  }
  /// A node with one result.
  constexpr id add(primitive kind, std::uint8_t f, ids operands, dtype type, shape const& dims,
                   attributes const& a = {}) {
    id const n = add_node(kind, f, operands, a);
    return add_result(n, type, dims);
  }
  constexpr id add(primitive kind, std::initializer_list<id> operands, dtype type, shape const& dims,
                   attributes const& a = {}) {
    return add(kind, 0, ids(operands.begin(), operands.size()), type, dims, a);
  }

  /// Adds a copy of node `n` with other operands; `n` has one result and owns no region.
  constexpr id add_again(node const& n, value const& result, ids operands) {
    id const made = add(n.kind, n.function, operands, result.type, result.dims,
                        {{n.attribute[0], n.attribute[1], n.attribute[2], n.attribute[3]}});
    node& again = m.nodes[m.values[made].node];
    again.path = n.path, again.site = n.site, again.ordinal = n.ordinal;
    return made;
  }

  // loops that are complete
  /// Adds `v`, a value of a loop's body, to the loop's results: all iterations, stacked.
  constexpr id add_stacked_output(id loop_node, id v) {
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
    id const here = region;
    region = l.region;
    inner.add(v), given.add(add_value(m.values[v].type, led_by(how.dim, m.values[v].dims), loop_node, given.count));
    region = here;
    body.results = add_links(inner), l.results = add_links(given);
    return given.at[given.count - 1];
  }

  // regions
  constexpr id begin_region(region_kind kind, id label) {
    make_room(m.region_count, 1, max_regions, "G20", region_rows);
    if (region == m.region_count) return region;  // the last row again, which must not be its own parent
    id const r = static_cast<id>(m.region_count++);
    m.regions[r] = {kind, false, label, region, {}, {}};
    region = r;
    return r;
  }
  /// Opens a region that may use outer values.
  constexpr frame& begin_frame(region_kind kind, id label, id loop_dim, bool shares_parameters) {
    if (!expect(depth < max_depth, "G21 loops and branches are nested more than 8 deep")) --depth;
    id const around = region;
    begin_region(kind, label);
    frame& f = frames[depth++];
    f = {};
    f.region = region, f.around = around, f.loop_dim = loop_dim, f.shares_parameters = shares_parameters;
    return f;
  }
  constexpr id add_argument(value const& like, shape const& dims) {
    return add(primitive::argument, {}, like.type, dims);
  }
  constexpr id add_carry(id outer) {
    frame& f = frames[depth - 1];
    if (depth > 1 && m.values[outer].region != m.regions[f.region].parent) outer = import(outer, depth - 2);
    value const v = m.values[outer];
    f.carries.add(add_argument(v, v.dims));
    return f.carries.at[f.carries.count - 1];
  }
  /// The slice of `outer` for this iteration; the leading dim of `outer` is the loop's.
  constexpr id add_stacked(id outer) {
    frame& f = frames[depth - 1];
    if (depth > 1 && m.values[outer].region != m.regions[f.region].parent) outer = import(outer, depth - 2);
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
    for (int i = 0; i < all.count; ++i) m.nodes[m.values[all.at[i]].node].attribute[0] = static_cast<id>(i);
    auto& r = m.regions[f.region];
    r.arguments = add_links(all);
    r.results = add_links(results);
    region = f.around;
    return f;
  }
  /// The id of `v` in the current region: itself, or the argument that stands for an outer value.
  constexpr id use(id v) {
    if (m.values[v].region == region) return v;
    return depth == 0 ? used_outside(v) : import(v, depth - 1);
  }

 private:
  constexpr id used_outside(id v) {
    diagnostic d{};
    add_type(d << "G23 a tensor ", m, m.values[v].type, m.values[v].dims);
    note(add_made(d, m, v)
         << " inside a loop or branch is used outside of it: return it from the body, and use what the "
            "loop gives");
    return v;
  }
  constexpr id import(id v, int level) {
    frame& f = frames[level];
    if (m.values[v].region == f.region) return v;
    id outer = v;
    if (m.values[v].region != m.regions[f.region].parent) {
      if (level == 0) return used_outside(v);
      outer = import(v, level - 1);
    }
    for (int i = 0; i < f.invariants.count; ++i)
      if (f.invariants.at[i] == outer) return f.invariant_arguments.at[i];
    value const like = m.values[outer];
    id const here = region;
    region = f.region;
    id const argument = add_argument(like, like.dims);
    region = here;
    f.invariants.add(outer);
    f.invariant_arguments.add(argument);
    return argument;
  }
  constexpr void find_two_extents(dim_row const& row, extent_rule const& rule) {
    auto const say = [](diagnostic& d, int kind, std::int64_t extent) -> diagnostic& {
      if (kind == extent_rule::fixed) return d << extent;
      return d << (kind == extent_rule::dynamic ? "one that is open" : "one made from other dims");
    };
    diagnostic d{};
    d << "T05 the dim '" << m.names[row.label] << "' has two extents in this program, ";
    say(say(d, row.kind, row.value) << " and ", rule.kind, rule.value) << ": give one of the two dims another name";
    note(d);
  }
  constexpr bool same_rule(dim_row const& row, extent_rule const& rule) const {
    if (static_cast<int>(row.kind) != static_cast<int>(rule.kind) || row.value != rule.value) return false;
    return rule.kind <= extent_rule::dynamic || m.names[m.dims[row.first].label] == rule.first;
  }
};

}  // namespace meshtensor
