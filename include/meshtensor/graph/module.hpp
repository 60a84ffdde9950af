// SPDX-License-Identifier: Apache-2.0
// The graph as a plain value: tables of rows with small integer ids, the same in the compiler and at run time.
//
// A module is a list of regions: entry points, loop bodies, branches, composites and fused groups are all regions.
// Nodes stand in the order in which they were made, each with the id of its region. The nodes of a region come before
// the node that owns it, and every node comes after its operands. No node holds a number. Extents are in `dims`, axis
// sizes in `axes`, and literals and all values set at run time in `numbers`.
#pragma once

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/name.hpp"
#include "meshtensor/graph/module/dim_row.hpp"
#include "meshtensor/graph/module/node.hpp"
#include "meshtensor/graph/module/number_row.hpp"
#include "meshtensor/graph/module/packed_halo.hpp"
#include "meshtensor/graph/module/row_holders.hpp"
#include "meshtensor/graph/module/user_function.hpp"
#include "meshtensor/graph/module/variable.hpp"
#include "meshtensor/graph/primitive.hpp"
#include "meshtensor/tensor/ids.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor {

static_assert(max_values < no_id_t::value && max_links < no_id_t::value && max_numbers < no_id_t::value &&
                  max_paths < no_id_t::value,
              "meshtensor: MESHTENSOR_MAX_NODES is at most 10922: ids have 16 bits");

/// The graph of one or several programs as one plain value: tables of nodes, values, dims and names, with small ids. It
/// owns no memory outside of itself, so a constant expression can hold it.
struct module {
  int node_count, value_count, link_count, region_count, name_count, dim_count, axis_count, number_count, path_count,
      site_count, variable_count, request_count, call_count, extension_count, reshape_count, window_count;
  node nodes[max_nodes];
  value values[max_values];
  id links[max_links];
  region regions[max_regions];
  name names[max_names];
  dim_row dims[max_dims];
  axis_row axes[max_axes];
  number_row numbers[max_numbers];
  path_row paths[max_paths];
  site_row sites[max_values];
  variable variables[max_variables];
  reshard_request requests[max_rules];
  call_row calls[max_calls];
  extension_row extensions[max_extensions];
  reshape_row reshapes[max_reshapes];
  window_row windows[max_windows];
  diagnostic report;  // why a pass failed; empty if there is no error. Later passes return such a module unchanged

  template <class Id>
  constexpr Id link(list_of<Id> l, int i) const {
    return static_cast<Id>(links[l.first + i]);
  }
  constexpr value_id operand(node const& n, int i) const { return static_cast<value_id>(links[n.operands.first + i]); }
  constexpr value_id result(node const& n, int i = 0) const {
    return static_cast<value_id>(links[n.results.first + i]);
  }
  constexpr region_id region_of(node const& n, int i) const {
    return static_cast<region_id>(links[n.regions.first + i]);
  }
  constexpr value const& operand_value(node const& n, int i) const { return values[operand(n, i)]; }
  constexpr value const& result_value(node const& n, int i = 0) const { return values[result(n, i)]; }
  constexpr name const& dim_name(int d) const { return names[dims[d].label]; }
};

/// Copies the tables whose ids never change. These are all tables except nodes, values, lists and regions.
constexpr void copy_tables(module& to, module const& from) {
  to.report = from.report;
  for (; to.name_count < from.name_count; ++to.name_count) to.names[to.name_count] = from.names[to.name_count];
  for (; to.dim_count < from.dim_count; ++to.dim_count) to.dims[to.dim_count] = from.dims[to.dim_count];
  for (; to.axis_count < from.axis_count; ++to.axis_count) to.axes[to.axis_count] = from.axes[to.axis_count];
  for (; to.number_count < from.number_count; ++to.number_count)
    to.numbers[to.number_count] = from.numbers[to.number_count];
  for (; to.path_count < from.path_count; ++to.path_count) to.paths[to.path_count] = from.paths[to.path_count];
  for (; to.site_count < from.site_count; ++to.site_count) to.sites[to.site_count] = from.sites[to.site_count];
  for (; to.variable_count < from.variable_count; ++to.variable_count)
    to.variables[to.variable_count] = from.variables[to.variable_count];
  for (; to.request_count < from.request_count; ++to.request_count)
    to.requests[to.request_count] = from.requests[to.request_count];
  for (; to.call_count < from.call_count; ++to.call_count) to.calls[to.call_count] = from.calls[to.call_count];
  for (; to.extension_count < from.extension_count; ++to.extension_count)
    to.extensions[to.extension_count] = from.extensions[to.extension_count];
  for (; to.reshape_count < from.reshape_count; ++to.reshape_count)
    to.reshapes[to.reshape_count] = from.reshapes[to.reshape_count];
  for (; to.window_count < from.window_count; ++to.window_count)
    to.windows[to.window_count] = from.windows[to.window_count];
}

/// The dim itself, or the dim that it widens by a halo.
constexpr dim_id whole_dim(module const& m, dim_id d) { return m.dims[d].kind == dim_row::halo ? m.dims[d].first : d; }

/// Whether a value has rows that were exchanged, or counts them. In this case its extents depend on the mesh.
constexpr bool is_of_exchange(module const& m, shape const& dims) {
  for (int i = 0; i < dims.count; ++i)
    if (m.dims[dims.at[i]].kind == dim_row::holders || m.dims[dims.at[i]].kind == dim_row::rows) return true;
  return false;
}

/// Whether `path` is `root` or below it.
constexpr bool is_under(module const& m, path_id path, path_id root) {
  while (path != root && path != no_id) path = m.paths[path].parent;
  return path == root;
}

/// The depth, from the root, of the innermost component `label` of `path`, or -1 if it has none.
constexpr int depth_of(module const& m, path_id path, name const& label) {
  int from_leaf = 0, found = -1, length = 0;
  for (path_id p = path; p != no_id; p = m.paths[p].parent, ++length) {
    if (found < 0 && m.names[m.paths[p].label] == label) found = from_leaf;
    ++from_leaf;
  }
  return found < 0 ? -1 : length - found;
}

/// The collective that a wait waits for.
constexpr node const& awaited(module const& m, node const& wait) {
  value const& v = m.operand_value(wait, 0);
  node const& n = m.nodes[v.node];
  return n.kind != primitive::repeat ? n
                                     : m.nodes[m.values[m.link(m.regions[m.region_of(n, 0)].results, v.index)].node];
}

/// Whether a region is the body of a loop. A branch is one, too.
constexpr bool is_body_of_loop(region const& r) { return r.kind == region_kind::body || r.kind == region_kind::branch; }

/// Whether a node is in the body of a composite, or in its gradient.
constexpr bool is_in_composite(module const& m, node const& n) {
  region_kind const kind = m.regions[n.region].kind;
  return kind == region_kind::composite || kind == region_kind::gradient;
}

}  // namespace meshtensor
