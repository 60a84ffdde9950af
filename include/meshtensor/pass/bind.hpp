// SPDX-License-Identifier: Apache-2.0
// Binds the extents of dims and the sizes of mesh axes, and checks that the layout fits them.
// before: structure only.  after: extents and axis sizes, or one sentence that says what does not fit.
// why: every pass before it runs in the compiler, even if extents are known only at start-up.
#pragma once

#include <span>

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor {

/// The numbers of a module: the extents of its dims and the sizes of its axes.
struct binding {
  std::int64_t extent[max_dims];
  std::int64_t axis[max_axes];
  diagnostic report;

  constexpr bool ok() const { return report.empty(); }
  /// How many ranks share the dim at `position` of a value.
  constexpr std::int64_t parts(value const& v, int position) const {
    std::int64_t n = 1;
    for (int a = 0; a < max_axes; ++a)
      if (v.layout.sharded_at(a) == position) n *= axis[a];
    return n;
  }
  /// The extent of one rank's shard of the dim at `position` of a value.
  constexpr std::int64_t local(value const& v, int position) const {
    return extent[v.dims.at[position]] / parts(v, position);
  }
  constexpr std::int64_t local_size(value const& v) const {
    std::int64_t n = 1;
    for (int i = 0; i < v.dims.count; ++i) n *= local(v, i);
    return n;
  }
  constexpr std::int64_t local_bytes(value const& v) const {
    return local_size(v) * static_cast<std::int64_t>(bytes_of(v.type));
  }
  constexpr std::int64_t size(shape const& dims) const {
    std::int64_t n = 1;
    for (int i = 0; i < dims.count; ++i) n *= extent[dims.at[i]];
    return n;
  }
  /// The number of ranks along the axes of a mask.
  constexpr std::int64_t members(unsigned mask) const {
    std::int64_t n = 1;
    for (int a = 0; a < max_axes; ++a)
      if ((mask >> a & 1u) != 0) n *= axis[a];
    return n;
  }
  /// Whether a node is a collective with one member only: its result is its operand.
  constexpr bool is_alone(node const& n) const { return is_collective(n.kind) && members(axes_of_collective(n)) == 1; }
};

namespace detail {

/// The dims that a module uses: those of its values and loops, and those that its numbers are computed from. Programs
/// that are declared together share one table of dims, but each is bound on its own.
struct needed_dims {
  bool at[max_dims];
  bool row[max_numbers];

  constexpr explicit needed_dims(module const& m) : at{}, row{} {
    for (int i = 0; i < m.value_count; ++i)
      for (int p = 0; p < m.values[i].dims.count; ++p) at[m.values[i].dims.at[p]] = true;
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      if (n.kind == primitive::read) row[m.variables[variable_of(n)].number] = true;
      declaration const& d = declared(m, n);
      for (int a = 0; a < 4; ++a) {
        if (d.attributes[a].kind == attribute_kind::dim) at[n.attribute[a]] = true;
        if (d.attributes[a].kind == attribute_kind::number && n.attribute[a] != no_id) row[n.attribute[a]] = true;
      }
    }
    for (int i = m.number_count; i-- > 0;) {  // a row refers only to earlier rows
      if (!row[i]) continue;
      if (m.numbers[i].kind == number_row::extent) at[m.numbers[i].first] = true;
      if (m.numbers[i].kind != number_row::expression) continue;
      row[m.numbers[i].first] = true;
      if (m.numbers[i].second != no_id) row[m.numbers[i].second] = true;
    }
    for (int d = m.dim_count; d-- > 0;) {
      if (!at[d]) continue;
      if (m.dims[d].first != no_id) at[m.dims[d].first] = true;
      if (m.dims[d].second != no_id) at[m.dims[d].second] = true;
    }
  }
};

constexpr void bind_dims(module const& m, std::span<dim_extent const> given, binding& b) {
  for (dim_extent const& g : given) {
    int d = 0;
    while (d < m.dim_count && !(m.dim_name(d) == g.label)) ++d;
    if (d == m.dim_count) {
      b.report << "S10 an extent is given for the dim '" << g.label << "', which this program does not have";
      return;
    }
    dim_row const& row = m.dims[d];
    if (g.extent < 1 || (row.kind != dim_row::dynamic && !(row.kind == dim_row::fixed && row.value == g.extent))) {
      b.report << "S10 the dim '" << g.label << "' cannot have the extent " << g.extent << ": ";
      if (g.extent < 1) b.report << "an extent is at least 1";
      else if (row.kind == dim_row::fixed) b.report << "its type says " << row.value;
      else b.report << "it is made from other dims";
      return;
    }
    if (b.extent[d] != 0 && b.extent[d] != g.extent) {
      b.report << "S10 the dim '" << g.label << "' is given two extents, " << b.extent[d] << " and " << g.extent;
      return;
    }
    b.extent[d] = g.extent;
  }
  needed_dims const needed(m);
  for (int d = 0; d < m.dim_count; ++d) {  // a row refers only to earlier rows
    dim_row const& row = m.dims[d];
    switch (row.kind) {
      case dim_row::fixed: b.extent[d] = row.value; break;
      case dim_row::product: b.extent[d] = b.extent[row.first] * b.extent[row.second]; break;
      case dim_row::sum: b.extent[d] = b.extent[row.first] + b.extent[row.second]; break;
      case dim_row::shifted: b.extent[d] = b.extent[row.first] + row.value; break;
      case dim_row::same: b.extent[d] = b.extent[row.first]; break;
      case dim_row::blocks:
      case dim_row::in_block: continue;  // by the sizes of axes: bind_blocks
      case dim_row::dynamic: break;
    }
    if (b.extent[d] < 1 && needed.at[d] && row.kind != dim_row::dynamic) {
      b.report << "S10 the dim '" << m.dim_name(d) << "' would have the extent " << b.extent[d]
               << ", by the dims that it is made from: an extent is at least 1";
      return;
    }
    if (b.extent[d] < 1 && needed.at[d]) {
      b.report << "S11 the dim '" << m.dim_name(d) << "' has no extent: give one, as in " << m.dim_name(d) << "(64)";
      return;
    }
  }
}

constexpr void bind_axes(module const& m, mesh_shape const& mesh, binding& b) {
  for (int a = 0; a < max_axes; ++a) b.axis[a] = 1;
  for (int a = 0; a < m.axis_count; ++a) {
    int const k = mesh.find(m.names[m.axes[a].label]);
    b.axis[a] = k < 0 ? 0 : mesh.axes[k].extent;
    if (b.axis[a] < 1) {
      b.report << "S12 the mesh axis '" << m.names[m.axes[a].label] << "' has no size: give one, as in "
               << m.names[m.axes[a].label] << "(2)";
      return;
    }
    if (b.axis[a] > 1 && !m.axes[a].conflict.empty()) {
      b.report = m.axes[a].conflict;
      return;
    }
  }
}

/// Binds the dims that `partition` made of sharded ones. An extent that their number does not divide is for
/// check_divides to report.
constexpr void bind_blocks(module const& m, binding& b) {
  for (int d = 0; d < m.dim_count; ++d) {
    dim_row const& row = m.dims[d];
    if (row.kind == dim_row::blocks) b.extent[d] = b.members(static_cast<unsigned>(row.value));
    if (row.kind != dim_row::in_block) continue;
    std::int64_t const whole = b.extent[row.first], blocks = b.extent[row.second];
    b.extent[d] = whole % blocks == 0 ? whole / blocks : 0;
  }
}

/// If the node splits a dim whose first part is `part`, that dim; else no_id.
constexpr id split_from(module const& m, node const& n, int part) {
  same_elements const same = elements_of(m, n);
  return same.before.count == 1 && same.after.count > 1 && same.after.at[0] == part ? id{same.before.at[0]} : no_id;
}

constexpr void check_divides(module const& m, binding& b) {
  if (m.axis_count == 0) return;
  for (int i = 0; i < m.value_count; ++i) {
    value const& v = m.values[i];
    for (int p = 0; p < v.dims.count; ++p) {
      std::int64_t const parts = b.parts(v, p), extent = b.extent[v.dims.at[p]];
      if (extent % parts == 0) continue;
      id const joined = split_from(m, m.nodes[v.node], v.dims.at[p]);
      b.report << "S02 dim '" << m.dim_name(v.dims.at[p]) << "' (" << extent << ")";
      if (joined == no_id) b.report << " is sharded over mesh axis ";
      else
        b.report << ", the first part of '" << m.dim_name(joined)
                 << "', lies as the rule for that says: over mesh axis ";
      for (int o = 0, n = v.layout.axes_of(p); o < n; ++o)
        b.report << (o == 0 ? "'" : " x '") << m.names[m.axes[v.layout.axis_at(p, o)].label] << "'";
      b.report << " (" << parts << " processors), which does not divide it: make it a multiple of " << parts
               << ", or replicate ";
      if (joined == no_id) b.report << "it";
      else locate(b.report << "'" << m.dim_name(joined) << "' where it is split", m, m.nodes[v.node]);
      return;
    }
  }
}

/// Checks dims that stand for the same elements: a dim and its new name, or a dim and its parts. Extent 0: not known
/// yet.
constexpr void check_same_elements(module const& m, binding& b) {
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    same_elements const same = elements_of(m, n);
    shape const &before = same.before, &after = same.after;
    if (before.count == 0) continue;
    bool known = true;
    auto const total = [&](shape const& dims) {
      std::int64_t all = b.extent[dims.at[0]];
      for (int k = 0; k < dims.count; ++k) {
        std::int64_t const e = b.extent[dims.at[k]];
        known = known && e != 0;
        if (k != 0) all = same.adds ? all + e : all * e;
      }
      return all;
    };
    if (total(before) == total(after) || !known) continue;
    auto const list = [&](shape const& dims) {
      for (int k = 0; k < dims.count; ++k)
        b.report << (k == 0      ? "'"
                     : same.adds ? " + '"
                                 : " x '")
                 << m.dim_name(dims.at[k]) << "' (" << b.extent[dims.at[k]] << ")";
    };
    b.report << "S03 ";
    list(before);
    b.report << (before.count == 1 ? " is " : " are ") << same.becomes << " ";
    list(after);
    locate(b.report << ", which is another number of elements", m, n);
    return;
  }
}

}  // namespace detail

/// Faults that no extent can cure: extents and axis sizes that the types leave open are assumed to divide.
struct early_check {
  diagnostic report;
};
constexpr early_check check_early(module const& m) {
  binding b{};
  for (int d = 0; d < m.dim_count; ++d) {  // 0: not known yet
    dim_row const& row = m.dims[d];
    std::int64_t const first = row.first == no_id ? 0 : b.extent[row.first];
    std::int64_t const second = row.second == no_id ? 0 : b.extent[row.second];
    if (row.kind == dim_row::fixed) b.extent[d] = row.value;
    if (row.kind == dim_row::product) b.extent[d] = first * second;
    if (row.kind == dim_row::sum && first * second != 0) b.extent[d] = first + second;
    if (row.kind == dim_row::shifted && first != 0) b.extent[d] = first + row.value;
    if (row.kind == dim_row::same) b.extent[d] = first;
  }
  for (int a = 0; a < max_axes; ++a) b.axis[a] = a < m.axis_count && m.axes[a].extent != 0 ? m.axes[a].extent : 1;
  detail::bind_blocks(m, b);
  detail::check_same_elements(m, b);
  if (b.ok()) detail::check_divides(m, b);
  return {b.report};
}

/// Binds a module to a mesh and to the extents given at start-up.
///
/// errors  S02 an extent does not divide; S03 dims that stand for the same elements have different extents; S10, S11 a
/// dim's extent; S12 an axis without a size
constexpr binding bind(module const& m, mesh_shape const& mesh, std::span<dim_extent const> given = {}) {
  binding b{};
  detail::bind_dims(m, given, b);
  if (b.ok()) detail::check_same_elements(m, b);
  if (b.ok()) detail::bind_axes(m, mesh, b);
  if (b.ok()) detail::bind_blocks(m, b);
  if (b.ok()) detail::check_divides(m, b);
  return b;
}

}  // namespace meshtensor
