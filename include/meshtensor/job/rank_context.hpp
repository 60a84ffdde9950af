// SPDX-License-Identifier: Apache-2.0
// One processor's side of a plan: the addresses of its values, their windows in the whole tensors, and its collectives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "meshtensor/comm/collective.hpp"
#include "meshtensor/graph/locate.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {

/// A collective as one rank takes part in it.
struct planned_collective {
  collective_call call;
  std::vector<int> members;
  group with;
  std::vector<name> axes;  // the mesh axes that the members span
};

/// For each value, whether it may still be in flight when its node has run: a wait comes before its first use.
inline std::vector<bool> awaited_values(module const& m, binding const& numbers) {
  std::vector<bool> all(static_cast<std::size_t>(m.value_count));
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    bool const is_sent = n.kind == primitive::wait && !numbers.is_alone(awaited(m, n));
    if (is_sent) all[m.operand(n, 0)] = true;
    if (ends_behind_loop(n) && !numbers.is_alone(n)) all[m.result(n)] = true;
  }
  return all;
}

class rank_context {
 public:
  rank_context(module const& m, plan const& p, mesh_shape const& mesh, int rank)
      : m_(m), p_(p), mesh_(mesh), rank_(rank) {
    views_.resize(static_cast<std::size_t>(m.value_count));
    for (int v = 0; v < m.value_count; ++v) views_[static_cast<std::size_t>(v)] = window_of(m.values[v]);
    for (int i = 0; i < m.node_count; ++i)
      if (node const& n = m.nodes[i]; declared(m, n).buffer == buffer_use::window && is_window(m.result(n)))
        std::ranges::copy(views_[m.operand(n, 0)].stride, views_[m.result(n)].stride);
    base_.assign(static_cast<std::size_t>(m.value_count), nullptr);
    collectives_.resize(static_cast<std::size_t>(m.node_count));
    for (int i = 0; i < m.node_count; ++i)
      if (is_collective(m.nodes[i].kind)) collectives_[static_cast<std::size_t>(i)] = exchange_of(m.nodes[i]);
  }

  /// Sets the arena of the next steps: plan::arena_bytes at a multiple of arena::alignment.
  void use(std::byte* memory) {
    if (memory == memory_) return;
    memory_ = memory;
    for (int v = 0; v < m_.value_count; ++v)
      if (p_.where[v] == place::arena) base_[static_cast<std::size_t>(v)] = memory + p_.offset[v];
  }

  int rank() const { return rank_; }
  std::byte* pointer(id v) const { return base_[p_.root[v]]; }
  /// Sets the address of the root of `v`, which lies outside the arena.
  void set_pointer(id v, std::byte* where) { base_[p_.root[v]] = where; }
  view at(id v) const {
    view r = views_[v];
    r.data = pointer(v);
    return r;
  }
  /// Whether a value is a strided view of another one.
  bool is_window(id v) const { return p_.where[v] == place::window; }
  /// The windows of all values, by id, without addresses.
  view const* windows() const { return views_.data(); }
  std::int64_t bytes(id v) const { return views_[v].bytes(); }
  planned_collective const& exchange(id node_id) const { return *collectives_[node_id]; }

  run_context context{};

  /// The window of a value that this rank holds.
  view window_of(value const& v) const {
    view r{};
    r.type = v.type;
    r.count = v.dims.count;
    for (int i = 0; i < v.dims.count; ++i) {
      r.dim[i] = v.dims.at[i];
      r.total[i] = p_.numbers.extent[v.dims.at[i]];
      r.extent[i] = p_.numbers.local(v, i);
      r.origin[i] = part_along(mesh_, v.layout, i, rank_) * r.extent[i];
    }
    r.densify();
    return r;
  }

 private:
  std::unique_ptr<planned_collective> exchange_of(node const& n) const {
    auto c = std::make_unique<planned_collective>();
    collective_attributes const how = collective_attributes::of(n);
    unsigned const mask = how.axes;
    std::int64_t const size = mesh_.size();
    for (int a = 0; a < mesh_.count; ++a)
      if ((mask >> a & 1u) != 0) c->axes.push_back(mesh_.axes[a].label);
    for (std::int64_t r = 0; r < size; ++r) {
      bool together = true;
      for (int a = 0; a < mesh_.count; ++a)
        together = together && ((mask >> a & 1u) != 0 || mesh_.coordinate(r, a) == mesh_.coordinate(rank_, a));
      if (!together) continue;
      if (r == rank_) c->with.index = static_cast<int>(c->members.size());
      c->members.push_back(static_cast<int>(r));
    }
    c->with.members = c->members.data();
    c->with.count = static_cast<int>(c->members.size());
    view const& block = views_[m_.operand(n, 0)];
    if (n.site < m_.site_count && m_.sites[n.site].line != 0)
      c->call.file = file_name(m_.sites[n.site]).data(), c->call.line = static_cast<int>(m_.sites[n.site].line);
    c->call.type = block.type;
    c->call.dims = block.count;
    for (int i = 0; i < block.count; ++i) c->call.extent[i] = block.extent[i];
    c->call.op = static_cast<reduction>(n.function);
    switch (n.kind) {
      case primitive::all_reduce: c->call.kind = collective::all_reduce; break;
      case primitive::reduce_scatter:
        c->call.kind = collective::reduce_scatter;
        c->call.split = block.find(how.split);
        break;
      case primitive::all_gather:
        c->call.kind = collective::all_gather;
        c->call.join = block.find(how.join);
        break;
      case primitive::all_to_all:
        c->call.kind = collective::all_to_all;
        c->call.split = block.find(how.split);
        c->call.join = block.find(how.join);
        break;
      default: throw error("R01", {"no collective for ", text_of(n.kind)});
    }
    return c;
  }

  meshtensor::module const& m_;
  plan const& p_;
  mesh_shape mesh_;
  int rank_;
  std::vector<view> views_;
  std::vector<std::byte*> base_;
  std::byte* memory_ = nullptr;
  std::vector<std::unique_ptr<planned_collective>> collectives_;
};

}  // namespace meshtensor
