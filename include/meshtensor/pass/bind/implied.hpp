// SPDX-License-Identifier: Apache-2.0
// Derives the placement that a value's dims and path imply from the rules of a layout.
#pragma once

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// A layout resolved against a module's dims, axes and paths. A dim that no rule names is replicated.
struct implied_layout {
  struct resolved_rule {
    bool scoped, used;
    dim_id dim;  // no_id if the module does not have it
    int count;
    std::uint8_t axes[max_axes];
  };
  meshtensor::module const& m;
  int count;
  resolved_rule rules[max_rules];
  std::uint8_t depth[max_rules][max_paths];  // the depth of a scoped rule's component in a path, counted from 1, or 0

  /// `m.axes` must already hold the axes of the mesh.
  constexpr implied_layout(module const& target, layout_rules const& layout, diagnostic& report)
      : m(target), count(layout.count), rules{}, depth{} {
    for (int r = 0; r < count; ++r) {
      layout_rule const& from = layout.rules[r];
      resolved_rule& to = rules[r];
      to.scoped = !from.scope.empty();
      to.dim = no_id;
      for (int d = 0; d < m.dim_count; ++d)
        if (m.dim_name(d) == from.dim) to.dim = static_cast<dim_id>(d);
      for (int i = 0; i < from.count; ++i) {
        int axis = -1;
        for (int a = 0; a < m.axis_count; ++a)
          if (m.names[m.axes[a].label] == from.axes[i]) axis = a;
        if (axis < 0) {
          report << "S04 the layout shards dim '" << from.dim << "' over the axis '" << from.axes[i]
                 << "', which the mesh does not have";
          return;
        }
        to.axes[to.count++] = static_cast<std::uint8_t>(axis);
      }
      if (!to.scoped || to.dim == no_id) continue;
      for (int p = 0; p < m.path_count; ++p)
        depth[r][p] = static_cast<std::uint8_t>(depth_of(m, static_cast<path_id>(p), from.scope) + 1);
    }
  }

  /// The rule for a dim under a path, or -1 if there is none. The rule of the innermost scope has precedence over the
  /// global rule. A dim may be another dim divided, or count the places of a window along it. If such a dim has no rule
  /// of its own, it follows the rule of the other dim.
  constexpr int rule_for(int dim, path_id path) {
    int const own = own_rule_for(dim, path);
    bool const of_window = m.dims[dim].kind == dim_row::windowed || m.dims[dim].kind == dim_row::fixed;
    return own >= 0 || !of_window || m.dims[dim].first == no_id ? own : rule_for(m.dims[dim].first, path);
  }
  constexpr int own_rule_for(int dim, path_id path) {
    int best = -1, best_depth = -1;
    dim_row::kind_t const kind = m.dims[dim].kind;
    if (kind == dim_row::holders || kind == dim_row::rows || kind == dim_row::sent)
      return -1;  // they follow their exchange, see `hold`
    for (int r = 0; r < count; ++r) {
      if (rules[r].dim != dim) continue;
      int const d = !rules[r].scoped ? 0 : path == no_id ? -1 : depth[r][path] == 0 ? -1 : depth[r][path];
      if (d > best_depth) best = r, best_depth = d;
    }
    if (best >= 0) rules[best].used = true;
    return best;
  }

  /// The implied placement of a value with these dims under a path. Dims of `whole` are not sharded. If two dims claim
  /// one axis, the first dim gets it. `contested`, if it is not null, says whether that happened.
  constexpr placement of(shape const& dims, path_id path, shape const& whole, bool* contested) {
    placement p{};
    for (int i = 0; i < dims.count; ++i) {
      if (whole.has(dims.at[i])) continue;
      if (is_of_holders(dims.at[i])) {
        if (contested != nullptr && (mask_of(p) & holders_at(dims.at[i]).axes) != 0) *contested = true;
        hold(p, i, dims.at[i]);
        continue;
      }
      int const r = rule_for(dims.at[i], path);
      if (r < 0) continue;
      for (int k = 0; k < rules[r].count; ++k) {
        int const axis = rules[r].axes[k];
        if (!p.shards(axis)) p.shard(i, axis);
        else if (contested != nullptr) *contested = true;
      }
    }
    return p;
  }

  /// Resolves contested axes: each axis shards the dim whose rule comes first, independently of the order of the dims.
  /// Therefore two operands with the same dims have the same placement. Exchanged rows stay on the ranks that hold
  /// them.
  constexpr placement settled(shape const& dims, path_id path, shape const& whole) {
    placement p{};
    for (int i = 0; i < dims.count; ++i)
      if (is_of_holders(dims.at[i]) && !whole.has(dims.at[i])) hold(p, i, dims.at[i]);
    for (int i = 0; i < dims.count; ++i) {
      int const r = whole.has(dims.at[i]) ? -1 : rule_for(dims.at[i], path);
      for (int k = 0; r >= 0 && k < rules[r].count; ++k)
        if (int const axis = rules[r].axes[k]; first_rule(axis, dims, path, whole, -1) == r && !p.shards(axis))
          p.shard(i, axis);
    }
    return p;
  }

  /// Reports S05 if the rules of two dims name one axis.
  constexpr diagnostic conflict(int axis, shape const& dims, path_id path, shape const& whole) {
    diagnostic d{};
    int const first = first_rule(axis, dims, path, whole, -1);
    int holders = -1;
    for (int i = 0; i < dims.count; ++i)
      if (is_of_holders(dims.at[i]) && (holders_at(dims.at[i]).axes >> axis & 1u) != 0) holders = dims.at[i];
    int const second = first < 0 || holders >= 0 ? first : first_rule(axis, dims, path, whole, first);
    if (second < 0) return d;
    d << "S05 mesh axis '" << m.names[m.axes[axis].label] << "' shards two dims of one tensor [";
    for (int i = 0; i < dims.count; ++i) d << (i == 0 ? "" : ", ") << m.dim_name(dims.at[i]);
    d << "], '" << m.dim_name(holders >= 0 ? holders : rules[first].dim) << "' and '" << m.dim_name(rules[second].dim)
      << "': drop one of the rules, or ";
    // If only one of the rules belongs to a scope, the user most likely wants this rule to win there.
    bool const one_is_scoped = holders < 0 && path != no_id && rules[first].scoped != rules[second].scoped;
    int const scoped = rules[first].scoped ? first : second;
    if (one_is_scoped) cure(d, rules[scoped == first ? second : first].dim, component(path, depth[scoped][path] - 1));
    else cure(d, rules[second].dim, path);
    return d;
  }
  /// Appends the fix: the rule that replicates a dim under a path.
  constexpr void cure(diagnostic& d, int dim, path_id path) const {
    if (path == no_id) {
      d << "make this part a layer and replicate one of them in its scope, in<\"scope\", replicate<" << m.dim_name(dim)
        << ">>";
    } else {
      d << "replicate one of them in this scope, in<\"" << m.names[m.paths[path].label] << "\", replicate<"
        << m.dim_name(dim) << ">>";
    }
  }

 private:
  // The part of a path from the root down to a depth.
  constexpr path_id component(path_id path, int at) const {
    int length = 0;
    for (path_id p = path; p != no_id; p = m.paths[p].parent) ++length;
    for (; length > at; --length) path = m.paths[path].parent;
    return path;
  }
  // Exchanged rows are placed by the axes of their exchange, because the path does not matter for them.
  constexpr bool is_of_holders(int dim) const { return m.dims[dim].kind == dim_row::holders; }
  constexpr row_holders holders_at(int dim) const { return row_holders::unpacked(m.dims[dim].value); }
  static constexpr unsigned mask_of(placement const& p) {
    unsigned mask = 0;
    for (int a = 0; a < max_axes; ++a)
      if (p.shards(a)) mask |= 1u << a;
    return mask;
  }
  constexpr void hold(placement& p, int position, int dim) const {
    row_holders h = holders_at(dim);
    h.axes &= ~mask_of(p);
    h.shard(p, position);
  }

  // The first rule after `after` that applies to one of the dims and names the axis, or -1 if there is none.
  constexpr int first_rule(int axis, shape const& dims, path_id path, shape const& whole, int after) {
    int first = -1;
    for (int i = 0; i < dims.count; ++i) {
      int const r = whole.has(dims.at[i]) ? -1 : rule_for(dims.at[i], path);
      if (r <= after || (first >= 0 && r > first)) continue;
      for (int k = 0; k < rules[r].count; ++k)
        if (rules[r].axes[k] == axis) first = r;
    }
    return first;
  }
};

/// The rules of a layout that have no effect on the traced programs, as bits. A rule has no effect if no tensor or
/// variable in its scope has the dim.
constexpr std::uint64_t unused_rules(module const& m, layout_rules const& layout) {
  std::uint64_t unused = 0;
  auto has = [&](shape const& dims, name const& dim) {
    for (int i = 0; i < dims.count; ++i)
      if (m.dim_name(dims.at[i]) == dim) return true;
    return false;
  };
  for (int r = 0; r < layout.count; ++r) {
    layout_rule const& rule = layout.rules[r];
    bool inside[max_paths] = {};
    for (int p = 0; p < m.path_count; ++p)
      inside[p] = rule.scope.empty() || depth_of(m, static_cast<path_id>(p), rule.scope) >= 0;
    bool used = false;
    for (int v = 0; v < m.value_count && !used; ++v) {
      path_id const path = m.nodes[m.values[v].node].path;
      if (path == no_id ? rule.scope.empty() : inside[path]) used = has(m.values[v].dims, rule.dim);
    }
    for (int v = 0; v < m.variable_count && !used; ++v)  // a variable's name may have a path of its own
      if (inside[m.variables[v].path]) used = has(m.variables[v].dims, rule.dim);
    if (!used) unused |= std::uint64_t{1} << r;
  }
  return unused;
}

}  // namespace meshtensor
