// SPDX-License-Identifier: Apache-2.0
// The graph as a plain value: tables of rows with small integer ids, the same in the compiler and at run time.
//
// A module is a list of regions: entry points, loop bodies, branches, composites and fused groups are all regions.
// Nodes stand in the order in which they were made, each with the id of its region. The nodes of a region come before
// the node that owns it, and every node comes after its operands. No node holds a number. Extents are in `dims`, axis
// sizes in `axes`, and literals and all values set at run time in `numbers`.
#pragma once

#include <cstdint>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/function.hpp"
#include "meshtensor/base/name.hpp"
#include "meshtensor/base/number_value.hpp"
#include "meshtensor/graph/primitive.hpp"
#include "meshtensor/tensor/ids.hpp"
#include "meshtensor/tensor/layout.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor {

static_assert(max_values < no_id_t::value && max_links < no_id_t::value && max_numbers < no_id_t::value &&
                  max_paths < no_id_t::value,
              "meshtensor: MESHTENSOR_MAX_NODES is at most 10922: ids have 16 bits");

/// A range of `module::links`, whose elements are ids of one table.
template <class Id>
struct list_of {
  id first, count;
};
using list = list_of<value_id>;

inline constexpr int max_attributes = 5;

/// The part of a training step to which a node belongs. It is only for reports, and no pass depends on it.
enum class phase : std::uint8_t { forward, backward, update };

/// A node of the graph: an operation with its operands, results, regions and attributes.
struct node {
  primitive kind;
  std::uint8_t function;  // depends on `kind`, see primitive.hpp: for example, an elementwise node's scalar function
  bool effect;            // never removed, merged, or reordered against another effect
  meshtensor::phase phase;
  region_id region;
  path_id path;
  site_id site;
  id ordinal;  // random: its index in its path; path and ordinal identify it
  id copy;     // of a layer that may be recomputed: only nodes of the same copy are merged; 0 if there is none
  id called;   // for reports: the composed operation that made it, such as gelu, a row of names plus 1; 0 if none
  id attribute[max_attributes];  // their meaning is in graph/attributes.hpp, and in the structs of operations in op/
  list operands, results;
  list_of<region_id> regions;
};

/// A result of a node. `partition` decides its layout. Before that, all values are unsharded.
struct value {
  dtype type;
  id index;  // among the results of its node
  shape dims;
  placement layout;
  node_id node;
  region_id region;
  id origin;  // of a value on one rank: the value of the whole program of which it is a part, plus 1; 0 if none
};

enum class region_kind : std::uint8_t { entry, body, branch, composite, gradient, kernel };

struct region {
  region_kind kind;
  bool removed;
  name_id label;  // the name of an entry or a composite
  region_id parent;
  list arguments, results;
};

struct dim_row {
  /// These kinds are made by the library:
  /// - same: a second dim with the extent of `first`.
  /// - blocks: the number of shards of `first`.
  /// - in_block: the extent of each shard, which is `first` divided by `second`.
  /// - cover: the elements of `first` that windows reach from a part of `second`, which is the part with its halo.
  /// - counted: the iterations of a loop. A number of the program is their upper bound.
  ///
  /// These kinds belong to exchanged rows. An index gives for each row a position along a dim of groups:
  /// - holders: the ranks that hold the rows. `first` is the dim of groups.
  /// - rows: the rows for which each rank has room. `first` is the dim of groups.
  /// - sent: the rows of the dim `first` that each rank may send.
  enum kind_t : std::uint8_t {
    fixed,
    dynamic,
    product,
    sum,
    shifted,
    windowed,
    holders,
    rows,
    same,
    blocks,
    in_block,
    cover,
    sent,
    counted
  } kind;
  name_id label;
  dim_id first, second;  // other rows
  std::int64_t value;    // fixed: the extent; shifted: added to that of `first`; windowed: a window_places;
                         // blocks: a mask of axes; cover: a packed_cover; holders: a row_holders;
                         // counted: a row of the table of numbers
};

/// The value of a dim of holders, which `partition` sets: the axes over whose ranks rows are distributed, and the axes
/// along which they are exchanged. It is packed into one number. The number is 0 on whole tensors, because they have
/// one holder.
struct row_holders {
  unsigned axes;       // a mask of the axes that shard the index
  placement exchange;  // placement of a value with one dim, the groups, over the axes along which rows go to groups

  static constexpr row_holders unpacked(std::int64_t value) {
    row_holders h{static_cast<unsigned>(value & 0x7f), {}};
    for (std::int64_t rest = value >> 8; rest != 0; rest >>= 4) h.exchange.shard(0, static_cast<int>(rest & 15) - 1);
    return h;
  }
  constexpr std::int64_t packed() const {
    std::int64_t all = 0;
    for (int o = exchange.axes_of(0); o-- > 0;) all = all << 4 | (exchange.axis_at(0, o) + 1);
    return all << 8 | 0x80 | axes;
  }
  constexpr unsigned exchange_mask() const {
    unsigned mask = 0;
    for (int a = 0; a < max_axes; ++a)
      if (exchange.shards(a)) mask |= 1u << a;
    return mask;
  }
  /// Shards the dim at `position` of a value as a dim of holders. The axes of the exchange are the minor ones.
  /// Therefore a part without them has the ranks that exchange rows with each other, in the order of their ranks.
  constexpr placement& shard(placement& p, int position) const {
    for (bool const exchanged : {false, true})
      for (int a = 0; a < max_axes; ++a)
        if ((axes >> a & 1u) != 0 && exchange.shards(a) == exchanged) p.shard(position, a);
    return p;
  }
};

/// The value of a cover: the window, and the axes that shard `second`, the first axis major. It is packed into one
/// number.
struct packed_cover {
  id window;       // a row of the table of windows
  bool of_inputs;  // whether `first` is the window's input and `second` its output, or the other way round
  placement axes;  // placement of a value with one dim, `second`

  static constexpr packed_cover unpacked(std::int64_t value) {
    packed_cover c{static_cast<id>(value & 0xffff), (value >> 16 & 1) != 0, {}};
    for (std::int64_t rest = value >> 17; rest != 0; rest >>= 4) c.axes.shard(0, static_cast<int>(rest & 15) - 1);
    return c;
  }
  constexpr std::int64_t packed() const {
    std::int64_t all = 0;
    for (int o = axes.axes_of(0); o-- > 0;) all = all << 4 | (axes.axis_at(0, o) + 1);
    return all << 17 | (of_inputs ? 1 << 16 : 0) | window;
  }
};

/// A window that moves along a dim. Element i of `input`, o of `output` and w of `kernel` meet where i = stride · o +
/// dilation · w - low. Positions beyond the ends of `input` are padding.
struct window_row {
  dim_id input, output, kernel;
  id stride, dilation;
  number_id low, high;  // padding at both ends, as rows of the table of numbers

  constexpr bool operator==(window_row const&) const = default;
};

struct axis_row {
  name_id label;
  std::int64_t extent;  // 0 if bound at start-up
  diagnostic conflict;  // S05, raised if this axis gets several ranks, because an axis of one shards nothing
};

struct number_row {
  /// Some kinds count:
  /// - step: the complete steps of the program.
  /// - schedule: the same, until an optimizer takes up the number.
  /// - updates: the updates counted under a path.
  /// - most_updates: the highest such count of the entry below a path.
  enum kind_t : std::uint8_t { literal, named, extent, step, seed, expression, schedule, updates, most_updates } kind;
  function f;          // expression
  id first;            // expression: a row; named: its name; extent: a dim; updates, most_updates: a path
  id second;           // expression: a row; named: the line of its declaration, which is no part of its identity
  number_value value;  // literal: its value; named: the value until it is set
};

struct path_row {
  path_id parent;
  name_id label;
};

struct site_row {
  char const* file;
  std::uint32_t line;
};

enum class initializer_kind : std::uint8_t { automatic, constant, normal, uniform };

/// A value that persists between steps: a parameter, or state.
struct variable {
  path_id path;
  dtype type;
  bool trainable;
  initializer_kind start;
  number_id number;  // constant: the value; normal: standard deviation; uniform: half the width
  shape dims;
  std::uint8_t own;  // the number of leading dims that enclosing loops added
  placement layout;
  site_id site;        // where it was declared first
  std::uint8_t again;  // how often a program declares it again, because weights are shared
  bool idle;           // whether a gradient is taken by it, although the loss does not depend on it
};

/// One dim of a reshard: the names of the axes that shall shard it, the first axis major. Without axes, the dim becomes
/// unsharded.
struct reshard_request {
  dim_id dim;
  id count;
  name_id axes[max_axes];
};

struct evaluation;  // graph/rule.hpp

/// The library's own function behind a call, for devices that run no C++ functions.
enum class library_call : std::uint8_t { none, top_positions };
/// A user's C++ function as an operation. It has the dims that it sees whole, the dims that it returns in their place,
/// and the function, which runs over a range of the points of all other dims.
struct call_row {
  name_id label;
  library_call library;
  shape whole, gives;
  void (*run)(evaluation const&, std::int64_t first, std::int64_t last);
  std::int64_t (*parts)(evaluation const&);  // the number of parts
};

struct operation;  // op/extension.hpp

/// An operation that is declared outside of the library.
struct extension_row {
  name_id label;
  operation const* rules;
};

/// Two names of the same elements in one of the programs that are traced together: a dim and its parts, or two dims.
/// Ranks hold the same elements under both names.
struct reshape_row {
  shape before, after;
  site_id site;
};

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

/// The dim itself, or the dim of which it is a cover.
constexpr dim_id whole_dim(module const& m, dim_id d) { return m.dims[d].kind == dim_row::cover ? m.dims[d].first : d; }

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
