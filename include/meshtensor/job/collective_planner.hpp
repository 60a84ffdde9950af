// SPDX-License-Identifier: Apache-2.0
// Makes the collectives of a plan for one rank.
#pragma once

#include <algorithm>
#include <memory>

#include "meshtensor/graph/locate.hpp"
#include "meshtensor/job/planned_collective.hpp"
#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {

/// Makes the collectives of a plan for one rank.
class collective_planner {
 public:
  collective_planner(module const& m, plan const& p, mesh_shape const& mesh, int rank)
      : m_(m), p_(p), numbers_(p.numbers), mesh_(mesh), rank_(rank) {}

  std::unique_ptr<planned_collective> of(node const& n) const;

 private:
  view held(value const& v) const { return held(v, rank_); }
  view held(value const& v, std::int64_t rank) const { return window_of_rank(numbers_, mesh_, v, rank); }

  /// The bytes of a group of joined collectives, as the first rank has them. All ranks, and lockstep too, use this
  /// number, so that they choose the same algorithm.
  std::int64_t bytes_together(node const& n) const;

  /// Whether a collective exchanges slices of a loop's stack. If it does, this sets its kind and the slices of each
  /// member.
  bool is_of_slices(planned_collective& c, node const& n, collective kind, placement const& layout) const;
  void split(collective_call& call, view const& block, dim_id dim) const {
    call.split = block.find(dim), call.split_grain = numbers_.grain[dim];
  }
  void join(collective_call& call, view const& block, view const& result, dim_id dim) const {
    call.join = block.find(dim), call.join_grain = numbers_.grain[dim];
    call.joined = result.extent[call.join];
  }

  void move(planned_collective& c, node const& n) const;
  void move_rows(planned_collective& c, node const& n) const;
  /// Plans rows that move by sources along a dim of `x`, of which each step has its own.
  void permute(planned_collective& c, value const& x, int along) const;
  static box box_of(view const& v) {
    box b;
    std::copy(v.origin, v.origin + v.count, b.origin), std::copy(v.extent, v.extent + v.count, b.extent);
    return b;
  }

  meshtensor::module const& m_;
  plan const& p_;
  binding const& numbers_;
  mesh_shape const& mesh_;
  int rank_;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline std::unique_ptr<planned_collective> collective_planner::of(node const& n) const {
  auto c = std::make_unique<planned_collective>();
  collective_attributes const how = collective_attributes::of(n);
  unsigned const mask = axes_of_collective(n);
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
  view const block = held(m_.operand_value(n, 0));
  if (n.site < m_.site_count && m_.sites[n.site].line != 0)
    c->call.file = file_name(m_.sites[n.site]).data(), c->call.line = static_cast<int>(m_.sites[n.site].line);
  c->call.type = block.type;
  c->call.dims = block.count;
  for (int i = 0; i < block.count; ++i) c->call.extent[i] = block.extent[i];
  c->call.op = static_cast<reduction>(n.function);
  switch (n.kind) {
    case primitive::all_reduce:
      c->call.kind = collective::all_reduce;
      c->call.together = bytes_together(n);
      break;
    case primitive::reduce_scatter:
      c->call.kind = collective::reduce_scatter;
      if (is_of_slices(*c, n, collective::reduce, m_.result_value(n).layout)) break;
      split(c->call, block, how.split);
      break;
    case primitive::all_gather:
      c->call.kind = collective::all_gather;
      if (is_of_slices(*c, n, collective::broadcast, m_.operand_value(n, 0).layout)) break;
      join(c->call, block, held(m_.result_value(n)), how.join);
      break;
    case primitive::all_to_all:
      c->call.kind = collective::all_to_all;
      split(c->call, block, how.split);
      join(c->call, block, held(m_.result_value(n)), how.join);
      break;
    case primitive::move: move(*c, n); break;
    case primitive::move_rows: move_rows(*c, n); break;
    default: throw error("R01", {"no collective for ", text_of(n.kind)});
  }
  return c;
}

inline std::int64_t collective_planner::bytes_together(node const& n) const {
  id const last = p_.joined[&n - m_.nodes];
  if (last == 0) return numbers_.local_bytes(m_.operand_value(n, 0));
  std::int64_t all = 0;
  for (int i = 0; i < m_.node_count; ++i)
    if (p_.joined[i] == last) all += numbers_.local_bytes(m_.operand_value(m_.nodes[i], 0));
  return all;
}

inline bool collective_planner::is_of_slices(planned_collective& c, node const& n, collective kind,
                                             placement const& layout) const {
  dim_id const along = collective_attributes::of_slices(m_, n);
  if (along == no_id) return false;
  c.call.kind = kind;
  for (int rank : c.members) c.slices.push_back(numbers_.slices_held(along, layout, coordinates_of_rank{mesh_, rank}));
  return true;
}

inline void collective_planner::move(planned_collective& c, node const& n) const {
  move_attributes const a = move_attributes::of(n);
  value const &x = m_.operand_value(n, 0), &y = m_.result_value(n);
  movement& m = c.moves;
  m.dims = x.dims.count, m.along = a.first == no_id ? -1 : x.dims.find(a.from), m.kind = a.how;
  m.extent = numbers_.extent[a.from];
  for (int rank : c.members) {
    m.from.push_back(box_of(held(x, rank))), m.to.push_back(box_of(held(y, rank)));
    std::int64_t copy = 0;  // along the axes over which the operand is replicated
    for (int axis = 0; axis < mesh_.count; ++axis)
      if ((a.axes >> axis & 1u) != 0 && x.layout.is_replicated(axis))
        copy = copy * mesh_.axes[axis].extent + mesh_.coordinate(rank, axis);
    m.copy.push_back(static_cast<int>(copy));
  }
  m.find_alike();
  c.call.kind = collective::move, c.call.moves = &m;
  c.first = a.first, c.step = a.step, c.around = a.around;
}

inline void collective_planner::move_rows(planned_collective& c, node const& n) const {
  move_rows_attributes const a = move_rows_attributes::of(n);
  value const &x = m_.operand_value(n, 0), &y = m_.result_value(n);
  c.call.kind = collective::move, c.call.moves = &c.moves, c.counts = m_.operand(n, 1);
  if (a.how == row_move::by_sources) return permute(c, x, x.dims.find(a.from));
  value groups{};
  groups.dims.add(a.groups), groups.layout = row_holders::unpacked(m_.dims[a.holders].value).group_axes;
  movement& m = c.moves;
  m.dims = x.dims.count, m.rows = x.dims.find(a.from);
  for (int rank : c.members) {
    m.from.push_back(box_of(held(x, rank))), m.to.push_back(box_of(held(y, rank)));
    m.copy.push_back(0), m.alike.push_back(static_cast<int>(m.alike.size()));  // no two members get the same rows
    c.groups.push_back(numbers_.part(groups, 0, coordinates_of_rank{mesh_, rank}));
  }
  std::size_t const members = m.from.size();
  m.runs.resize(members * members), c.taken.resize(members), c.given.resize(members);
  for (std::size_t s = 0; s < members; ++s)  // a run for each group of the holder, so that a step needs no memory
    for (std::size_t r = 0; r < members; ++r)
      m.runs[s * members + r].reserve(static_cast<std::size_t>(c.groups[a.how == row_move::back ? s : r].count));
}

inline void collective_planner::permute(planned_collective& c, value const& x, int along) const {
  movement& m = c.moves;
  m.dims = x.dims.count, m.rows = along, m.by_sources = true;
  for (int rank : c.members)
    m.from.push_back(box_of(held(x, rank))), m.to.push_back(m.from.back()), m.copy.push_back(0);
  m.sources.resize(static_cast<std::size_t>(numbers_.extent[x.dims.at[along]]));
  m.find_alike_by_sources();
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
