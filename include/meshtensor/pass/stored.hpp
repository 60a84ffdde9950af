// SPDX-License-Identifier: Apache-2.0
// Stores a module or a plan that the compiler made in an object file. Only the rows in use are stored. A module has
// room for the largest program, so most of it is zeros.
#pragma once

#include <algorithm>
#include <array>
#include <memory>

#include "meshtensor/pass/plan_memory/liveness.hpp"

namespace meshtensor {
namespace detail {

/// The first rows of a table.
template <int Count, class Row, std::size_t Capacity>
constexpr std::array<Row, Count> first_rows(Row const (&table)[Capacity]) {
  std::array<Row, Count> rows{};
  for (int i = 0; i < Count; ++i) rows[static_cast<std::size_t>(i)] = table[i];
  return rows;
}
template <class Row, std::size_t Capacity, std::size_t Count>
void put_rows(Row (&table)[Capacity], std::array<Row, Count> const& rows) {
  std::copy(rows.begin(), rows.end(), table);
}
template <class Row, std::size_t Capacity, std::size_t Count>
void put_rows(Row (&table)[Capacity], int& count, std::array<Row, Count> const& rows) {
  put_rows(table, rows);
  count = static_cast<int>(Count);
}

}  // namespace detail

/// The rows of a module without a report. The trace is one object for all programs with the same name, even from
/// several source files. Therefore `Fingerprint` is the trace's fingerprint, so that each program has its own rows.
template <module const& M, std::uint64_t Fingerprint = 0>
struct stored_module {
  static std::unique_ptr<module const> load() {
    std::unique_ptr<module> m(new module{});
    detail::put_rows(m->nodes, m->node_count, nodes);
    detail::put_rows(m->values, m->value_count, values);
    detail::put_rows(m->links, m->link_count, links);
    detail::put_rows(m->regions, m->region_count, regions);
    detail::put_rows(m->names, m->name_count, names);
    detail::put_rows(m->dims, m->dim_count, dims);
    detail::put_rows(m->axes, m->axis_count, axes);
    detail::put_rows(m->numbers, m->number_count, numbers);
    detail::put_rows(m->paths, m->path_count, paths);
    detail::put_rows(m->sites, m->site_count, sites);
    detail::put_rows(m->variables, m->variable_count, variables);
    detail::put_rows(m->requests, m->request_count, requests);
    detail::put_rows(m->calls, m->call_count, calls);
    detail::put_rows(m->extensions, m->extension_count, extensions);
    detail::put_rows(m->reshapes, m->reshape_count, reshapes);
    detail::put_rows(m->windows, m->window_count, windows);
    return m;
  }

 private:
  static constexpr auto nodes = detail::first_rows<M.node_count>(M.nodes);
  static constexpr auto values = detail::first_rows<M.value_count>(M.values);
  static constexpr auto links = detail::first_rows<M.link_count>(M.links);
  static constexpr auto regions = detail::first_rows<M.region_count>(M.regions);
  static constexpr auto names = detail::first_rows<M.name_count>(M.names);
  static constexpr auto dims = detail::first_rows<M.dim_count>(M.dims);
  static constexpr auto axes = detail::first_rows<M.axis_count>(M.axes);
  static constexpr auto numbers = detail::first_rows<M.number_count>(M.numbers);
  static constexpr auto paths = detail::first_rows<M.path_count>(M.paths);
  static constexpr auto sites = detail::first_rows<M.site_count>(M.sites);
  static constexpr auto variables = detail::first_rows<M.variable_count>(M.variables);
  static constexpr auto requests = detail::first_rows<M.request_count>(M.requests);
  static constexpr auto calls = detail::first_rows<M.call_count>(M.calls);
  static constexpr auto extensions = detail::first_rows<M.extension_count>(M.extensions);
  static constexpr auto reshapes = detail::first_rows<M.reshape_count>(M.reshapes);
  static constexpr auto windows = detail::first_rows<M.window_count>(M.windows);
};

/// The rows of a plan for a module.
template <plan const& P, module const& M>
struct stored_plan {
  static std::unique_ptr<plan const> load() {
    std::unique_ptr<plan> p(new plan{});
    detail::put_rows(p->numbers.extent, extent);
    detail::put_rows(p->numbers.grain, grain);
    detail::put_rows(p->numbers.block_of, block_of);
    detail::put_rows(p->numbers.halo_of, halo_of);
    detail::put_rows(p->numbers.axis, axis);
    detail::put_rows(p->steps.nodes, steps);
    detail::put_rows(p->steps.first, first);
    detail::put_rows(p->steps.count, count);
    detail::put_rows(p->root, root);
    detail::put_rows(p->where, where);
    detail::put_rows(p->joined, joined);
    detail::put_rows(p->offset, offset);
    p->arena_bytes = P.arena_bytes, p->variable_bytes = P.variable_bytes, p->input_bytes = P.input_bytes;
    p->fullest = P.fullest;
    return p;
  }

 private:
  static constexpr auto extent = detail::first_rows<M.dim_count>(P.numbers.extent);
  static constexpr auto grain = detail::first_rows<M.dim_count>(P.numbers.grain);
  static constexpr auto block_of = detail::first_rows<M.dim_count>(P.numbers.block_of);
  static constexpr auto halo_of = detail::first_rows<M.dim_count>(P.numbers.halo_of);
  static constexpr auto axis = detail::first_rows<max_axes>(P.numbers.axis);
  static constexpr auto steps = detail::first_rows<M.node_count>(P.steps.nodes);
  static constexpr auto first = detail::first_rows<M.region_count>(P.steps.first);
  static constexpr auto count = detail::first_rows<M.region_count>(P.steps.count);
  static constexpr auto root = detail::first_rows<M.value_count>(P.root);
  static constexpr auto where = detail::first_rows<M.value_count>(P.where);
  static constexpr auto joined = detail::first_rows<M.node_count>(P.joined);
  static constexpr auto offset = detail::first_rows<M.value_count>(P.offset);
};

}  // namespace meshtensor
