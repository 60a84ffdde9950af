// SPDX-License-Identifier: Apache-2.0
// Partitions a program on whole tensors into the program of one rank, and inserts the collectives.
// before: differentiated.  after: every value has a placement. Every change of placement is a node with its user's
// line.
// why: a value's dims and path imply its placement. Sums stay partial until a user needs them reduced.
#pragma once

#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/pass/partition/partition_operation.hpp"
#include "meshtensor/pass/partition/regions.hpp"

namespace meshtensor {
namespace detail {

struct partitioner {
  partitioning& p;
  region_partitioner regions;

  constexpr explicit partitioner(partitioning& program) : p(program), regions(program) {}

  constexpr void run() {
    for (int v = 0; v < p.m.variable_count && p.report.empty(); ++v)
      p.m.variables[v].layout = p.settle(p.m.variables[v].dims, p.m.variables[v].path, shape{}, nullptr);
    for (int i = 0; i < p.from.node_count && p.report.empty(); ++i) step(p.from.nodes[i]);
  }

  constexpr void step(node const& n) {
    p.b.region = n.region, p.b.path = n.path, p.b.site = n.site, p.b.copy = n.copy;
    p.b.phase = n.phase, p.b.called = n.called;
    if (is_part_of_state(n)) return refuse_rows(n);
    switch (n.kind) {
      case primitive::input: p.give(p.make(n, {}), p.from.result(n), p.implied(p.from.result(n), n)); break;
      case primitive::read: p.give(p.make(n, {}), p.from.result(n), p.m.variables[variable_of(n)].layout); break;
      case primitive::write: effect(n, p.m.variables[variable_of(n)].layout); break;
      case primitive::output: effect(n, shown(n)); break;
      case primitive::argument: regions.argument(n); break;
      case primitive::repeat: regions.repeat(n); break;
      case primitive::composite: regions.composite(n); break;
      default:
        if (declared(n.kind).attributes[0].kind == attribute_kind::request) requested_placement(n);
        else partition_operation(p, n);
    }
  }
  /// Whether a node would show exchanged rows outside of the step, or number them, or give them random numbers. That is
  /// not allowed, because their extents depend on the mesh.
  constexpr bool is_part_of_state(node const& n) const {
    fusion_role const role = declared(n.kind).fusion;
    bool const gives = n.kind == primitive::input || n.kind == primitive::read || role == fusion_role::random ||
                       role == fusion_role::position;
    bool const takes = n.kind == primitive::output || n.kind == primitive::write;
    return (gives && is_of_exchange(p.from, p.from.result_value(n).dims)) ||
           (takes && is_of_exchange(p.from, p.from.operand_value(n, 0).dims));
  }
  constexpr void refuse_rows(node const& n) {
    p.report << "S21 " << text_of(n.kind)
             << " of exchanged rows would depend on the mesh: make it before all_to_all_rows, or behind return_rows";
    p.at_line(n);
  }
  constexpr void effect(node const& n, placement const& at) {
    value_id v = p.copies.copy_at(p.from.operand(n, 0), at);
    // If the value is in another variable's memory, it is copied, so that variables may swap values.
    node const& maker = p.m.nodes[p.m.values[owner_of_memory(p.m, v)].node];
    if (n.kind == primitive::write && maker.kind == primitive::read && variable_of(maker) != variable_of(n))
      v = copied(p.b, v);
    id_list<> operands{};
    operands.add(v);
    p.make(n, operands);
  }

  /// Gives a value the implied placement, except for the dims that the node names.
  constexpr void requested_placement(node const& n) {
    value_id const old = p.from.operand(n, 0);
    shape const& dims = p.from.values[old].dims;
    shape named{};
    reshard_attributes const wanted = reshard_attributes::of(n);
    for (int r = 0; r < wanted.count; ++r) named.add(p.m.requests[wanted.first + r].dim);
    placement to = p.implied(old, n, named);
    for (int r = 0; r < wanted.count && p.report.empty(); ++r) {
      reshard_request const& row = p.m.requests[wanted.first + r];
      for (int k = 0; k < row.count; ++k) {
        int axis = -1;
        for (int a = 0; a < p.m.axis_count; ++a)
          if (p.m.axes[a].label == row.axes[k]) axis = a;
        if (axis < 0) {
          p.report << "S04 reshard names the axis '" << p.m.names[row.axes[k]] << "', which the mesh does not have";
          return p.at_line(n);
        }
        if (!to.shards(axis)) {
          to.shard(dims.find(row.dim), axis);
        } else if (p.m.axes[axis].extent != 1) {
          diagnostic d{};
          d << "S05 reshard shards '" << p.m.dim_name(row.dim) << "' over the axis '" << p.m.names[row.axes[k]]
            << "', which shards '" << p.m.dim_name(dims.at[to.sharded_at(axis)]) << "' already: add replicate<"
            << p.m.dim_name(dims.at[to.sharded_at(axis)]) << "> to it";
          p.at_line(d, n);
          p.conflict(axis, d);
        }
      }
    }
    if (!p.report.empty()) return;
    id_list<> operands{};
    operands.add(p.copies.copy_at(old, to));
    p.give(p.make(n, operands), p.from.result(n), to);
  }

  /// The placement of an output. A tensor that is watched in a loop also has the loop's dim. If this dim and another
  /// dim claim one axis, the first rule holds.
  constexpr placement shown(node const& n) {
    value_id const x = p.from.operand(n, 0);
    return output_attributes::of(n).with_path ? p.layout.settled(p.from.values[x].dims, n.path, {}) : p.implied(x, n);
  }
};

}  // namespace detail

/// The program of one rank of a mesh under a layout.
///
/// errors  S04 the mesh lacks an axis; S05 one axis shards two dims that meet; S21 exchanged rows would be seen outside
///         of the step
///
/// source  Mesh-TensorFlow, arXiv:1811.02084, section 3, with partial sums as in GSPMD, arXiv:2105.04663
constexpr module partition(module const& from, mesh_shape const& mesh, layout_rules const& rules) {
  meshtensor::module m{};
  copy_tables(m, from);
  m.region_count = from.region_count;
  for (int i = 0; i < m.region_count; ++i) m.regions[i] = from.regions[i];
  builder b(m);
  for (int a = 0; a < mesh.count; ++a) m.axes[m.axis_count++] = {b.intern(mesh.axes[a].label), mesh.axes[a].extent, {}};
  detail::partitioning p(from, m, rules);
  if (m.report.empty()) detail::partitioner(p).run();
  return m;
}

}  // namespace meshtensor
