// SPDX-License-Identifier: Apache-2.0
// Fuses elementwise nodes and reductions into kernels, because a kernel reads and writes memory only once.
// before: partitioned, composites inlined.  after: every elementwise node and every reduction is in a kernel's region.
// why: the pass looks only at structure, so that equal layers become equal kernels for all extents.
#pragma once

#include "meshtensor/pass/fuse/grouping.hpp"

namespace meshtensor {

namespace detail {

/// Writes the module that a grouping describes.
struct kernel_writer {
  meshtensor::module const& from;
  grouping const& groups;
  rebuild w;
  id first[grouping::max_groups], next[max_nodes];  // the first member of a group, and the member after a node, plus 1
  value_id inside[max_values];
  id inside_of[max_values];  // the kernel for which `inside` is valid: its group, plus 1
  bool leaves[max_values];   // whether it is used outside its group
  id_list<max_kernel_operands> operands, arguments;
  region_id region;
  id now;

  constexpr kernel_writer(module const& m, module& target, grouping const& g)
      : from(m),
        groups(g),
        w(m, target),
        first{},
        next{},
        inside{},
        inside_of{},
        leaves{},
        operands{},
        arguments{},
        region(no_id),
        now(0) {
    find_what_leaves();
    for (int i = from.node_count; i-- > 0;) {
      if (groups.group_of[i] == 0) continue;
      id const own = static_cast<id>(groups.group_of[i] - 1);
      next[i] = first[own], first[own] = static_cast<id>(i + 1);
    }
    for (int i = 0; i < from.node_count && w.m.report.empty(); ++i) {
      node const& n = from.nodes[i];
      if (id const own = groups.group_of[i]; own != 0) {
        if (groups.groups[own - 1].place == i) kernel(static_cast<id>(own - 1));
      } else if (!groups.is_gone(n)) {
        node_id const made = w.copy(n);
        if (n.kind == primitive::composite) claim(w.m.nodes[made]);
      }
    }
  }

 private:
  /// Lets the device run the composite whole.
  static constexpr void claim(node& n) {
    composite_attributes a = composite_attributes::of(n);
    a.whole = true;
    set_attributes(n, a.packed());
  }
  constexpr void find_what_leaves() {
    for (int r = 0; r < from.region_count; ++r)
      for (int i = 0; i < from.regions[r].results.count; ++i) leaves[from.link(from.regions[r].results, i)] = true;
    for (int i = 0; i < from.node_count; ++i) {
      node const& n = from.nodes[i];
      id const own = groups.group_of[i];
      if (own == 0 && groups.is_gone(n)) continue;
      for (int k = 0; k < n.operands.count; ++k) {
        value_id const v = own == 0 ? from.operand(n, k) : groups.source[from.operand(n, k)];
        leaves[v] = leaves[v] || own == 0 || groups.group_of[from.values[v].node] != own;
      }
    }
  }

  constexpr void kernel(id g) {
    node const& root = from.nodes[groups.groups[g].place];
    w.enter(root);
    builder& b = w.b;
    region_id const around = b.region;
    now = static_cast<id>(g + 1);
    operands.count = arguments.count = 0;
    region = b.begin_region(region_kind::kernel, no_id);
    value_id results[max_kernel_results] = {}, old[max_kernel_results] = {};
    int count = 0;
    for (id i = first[g]; i != 0; i = next[i - 1]) {
      value_id const v = from.result(from.nodes[i - 1]);
      inside[v] = copy(from.nodes[i - 1]), inside_of[v] = now;
      if (leaves[v]) results[count] = inside[v], old[count++] = v;
    }
    w.m.regions[region].arguments = b.add_links(arguments);
    w.m.regions[region].results = b.add_links(ids(results, static_cast<std::size_t>(count)));
    b.region = around, b.path = root.path, b.site = root.site, b.copy = root.copy;
    b.phase = root.phase, b.called = root.called;
    node_id const k = b.add_node(primitive::kernel, 0, operands, kernel_attributes{groups.groups[g].space}.packed());
    for (int i = 0; i < count; ++i) {
      value const& v = from.values[old[i]];
      value_id const made = b.add_result(k, v.type, v.dims);
      w.m.values[made].layout = v.layout, w.m.values[made].origin = v.origin;
      w.replace(old[i], made);
    }
    w.m.nodes[k].regions = b.add_links(std::span<region_id const>(&region, 1));
  }

  /// Copies `n` into the kernel's region.
  constexpr value_id copy(node const& n) {
    value_id given[3] = {};
    for (int k = 0; k < n.operands.count; ++k) given[k] = inner(from.operand(n, k));
    return make(n, given, n.operands.count, from.result_value(n));
  }
  constexpr value_id make(node const& like, value_id const* given, int count, value const& result) {
    meshtensor::module& m = w.m;
    w.b.make_room(m.node_count, 1, max_nodes, "G02", "nodes, gradients and kernels included");
    w.b.make_room(m.value_count, 1, max_values, "G02", "tensors, gradients and kernels included");
    w.b.make_room(m.link_count, count + 1, max_links, "G02", "operands and results, gradients and kernels included");
    node& n = m.nodes[m.node_count];
    n = like;
    n.region = region, n.operands = {static_cast<id>(m.link_count), static_cast<id>(count)}, n.regions = {0, 0};
    for (int k = 0; k < count; ++k) m.links[m.link_count++] = given[k];
    n.results = {static_cast<id>(m.link_count), 1};
    m.links[m.link_count++] = static_cast<id>(m.value_count);
    value& v = m.values[m.value_count];
    v = result;
    v.node = static_cast<node_id>(m.node_count++), v.region = region, v.index = 0;
    return static_cast<value_id>(m.value_count++);
  }

  /// The value inside the kernel: a member's result, a recomputed value, or an argument.
  constexpr value_id inner(value_id v) {
    if (inside_of[v] == now) return inside[v];
    bool const again =
        groups.role[v] == fusion_role::number || groups.role[v] == fusion_role::position || groups.source[v] != v;
    value_id const made = again ? copy(from.nodes[from.values[v].node]) : argument(v);
    inside[v] = made, inside_of[v] = now;
    return made;
  }
  constexpr value_id argument(value_id v) {
    node like{};
    like.kind = primitive::argument, like.path = w.b.path, like.site = w.b.site, like.copy = w.b.copy;
    set_place(like, arguments.count);
    value_id const made = make(like, nullptr, 0, from.values[v]);
    arguments.add(made);
    operands.add(w[v]);
    return made;
  }
};

}  // namespace detail

/// The module with kernels. Only the composites that the device claims remain, and their bodies are unchanged.
constexpr module fuse(module const& from) {
  if (!from.report.empty()) return from;
  meshtensor::module m{};
  detail::grouping const groups(from);
  detail::kernel_writer const written(from, m, groups);
  return m;
}

}  // namespace meshtensor
