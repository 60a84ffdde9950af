// SPDX-License-Identifier: Apache-2.0
// The state of one rank of a plan: the addresses of its values, their windows in the whole tensors, and its
// collectives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/job/collective_of_step.hpp"
#include "meshtensor/job/collective_planner.hpp"
#include "meshtensor/pass/join_collectives.hpp"

namespace meshtensor {

/// Says for each value whether it may still be in flight after its node has run. A wait comes before its first use.
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
    find_all();
  }

  /// Sets the arena of the next steps: `plan::arena_bytes` bytes at an address that is a multiple of
  /// `arena::alignment`.
  void use(std::byte* memory) {
    if (memory == memory_) return;
    memory_ = memory;
    for (int v = 0; v < m_.value_count; ++v)
      if (is_in_arena(p_.where[v])) base_[static_cast<std::size_t>(v)] = memory + p_.offset[v];
  }

  int rank() const { return rank_; }
  mesh_shape const& mesh() const { return mesh_; }
  std::byte* pointer(value_id v) const { return base(p_.root[v]); }
  /// The address of a value that has memory of its own. `arena()` is the address of the arena.
  std::byte* base(std::size_t root) const { return base_[root]; }
  std::byte* arena() const { return memory_; }
  /// The address in an iteration of a value that has two blocks in the arena.
  std::byte* turn(value_id v, std::int64_t index, std::int64_t bytes_of_one) const {
    return memory_ + p_.offset[p_.root[v]] + (index % 2) * bytes_of_one;
  }
  /// Sets the address of the root of `v`. The root is outside the arena, or has two blocks in the arena.
  void set_pointer(value_id v, std::byte* where) { set_base(p_.root[v], where); }
  void set_base(std::size_t root, std::byte* where) { base_[root] = where; }
  view at(value_id v) const {
    view r = views_[v];
    r.data = pointer(v);
    return r;
  }
  /// Whether a value is a strided view of another one.
  bool is_strided_slice(value_id v) const { return p_.where[v] == place::strided_slice; }
  /// The windows of all values, by id, without addresses.
  view const* windows() const { return views_.data(); }
  /// Bytes of this rank's part of a value.
  std::int64_t bytes(value_id v) const { return bytes_[v]; }
  planned_collective const& collective_of(node_id which) const { return *collectives_[which]; }
  /// Whether this rank has a value of a loop's body in the current iteration. For example, if a stack is sharded along
  /// the loop's dim, only one rank has the slice of an iteration.
  bool is_here(value_id v) const {
    placement const& layout = m_.values[v].layout;
    if (layout.axes_of(placement::of_loop) == 0) return true;
    dim_id const along = loop::of(m_.nodes[node_owning(m_, m_.values[v].region)]).dim;
    interval const held = p_.numbers.slices_held(along, layout, coordinates_of_rank{mesh_, rank_});
    return context.index >= held.begin && context.index < held.begin + held.count;
  }
  /// The collective with the values of this step. A move gets the numbers of the step, a slice gets the root of the
  /// iteration, and an exchange of rows gets its counts.
  /// errors R10 a slice or a pad beyond its dim
  planned_collective const& collective_now(node_id which) {
    planned_collective& c = *collectives_[which];
    if (c.counts != no_id) set_runs(which, at(c.counts));
    return collective_before_counts(which);
  }
  /// The same before the counts of an exchange of rows are known. `set_runs` sets them later.
  planned_collective const& collective_before_counts(node_id which) {
    planned_collective& c = *collectives_[which];
    if (!c.slices.empty()) set_root(c, context.index);
    if (c.first != no_id) set_numbers(c, m_, p_.numbers, m_.nodes[which], context.numbers);
    return c;
  }
  /// The collective that carries all collectives that are joined to `last`. It concatenates their blocks or, if they
  /// are permutes, the rows of their blocks. If these have several dtypes, the message has elements of the smallest.
  std::unique_ptr<planned_collective> joined_collective(node_id last) const;
  /// Sets the sources of the step in a collective that carries permutes.
  void set_joined_sources(planned_collective& all) const {
    if (all.counts != no_id) set_sources(all.moves, at(all.counts));
  }
  void set_runs(node_id which, view const& counts) {
    meshtensor::set_runs(*collectives_[which], move_rows_attributes::of(m_.nodes[which]).how, counts);
  }

  run_context context{};

  /// The window of a value that this rank holds.
  view window_of(value const& v) const { return window_of_rank(p_.numbers, mesh_, v, rank_); }

 private:
  /// Finds the windows of all values, and the collectives.
  /// why: this is not in the constructor, because g++ ignores the options of run_rarely.hpp there.
  void find_all();
  /// Sets the strides of a window that is a slice with a known step.
  void set_strides(view& window, node const& n, view const& of) const {
    strided_window const a = strided_window::of(n);
    std::ranges::copy(of.stride, window.stride);
    window.stride[of.find(a.from)] *= *known_step(m_, p_.numbers, a.step);
  }

  meshtensor::module const& m_;
  plan const& p_;
  mesh_shape mesh_;
  int rank_;
  dynamic_array<view> views_;
  dynamic_array<std::int64_t> bytes_;
  dynamic_array<std::byte*> base_;
  std::byte* memory_ = nullptr;
  dynamic_array<std::unique_ptr<planned_collective>> collectives_;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

inline void rank_context::find_all() {
  views_.resize(static_cast<std::size_t>(m_.value_count));
  for (int v = 0; v < m_.value_count; ++v) views_[static_cast<std::size_t>(v)] = window_of(m_.values[v]);
  for (int i = 0; i < m_.node_count; ++i)
    if (node const& n = m_.nodes[i]; declared(m_, n).buffer == buffer_use::window && is_strided_slice(m_.result(n)))
      set_strides(views_[m_.result(n)], n, views_[m_.operand(n, 0)]);
  for (view const& v : views_) bytes_.push_back(v.bytes());
  base_.assign(static_cast<std::size_t>(m_.value_count), nullptr);
  collectives_.resize(static_cast<std::size_t>(m_.node_count));
  collective_planner const planner(m_, p_, mesh_, rank_);
  for (int i = 0; i < m_.node_count; ++i)
    if (is_collective(m_.nodes[i].kind)) collectives_[static_cast<std::size_t>(i)] = planner.of(m_.nodes[i]);
}

inline std::unique_ptr<planned_collective> rank_context::joined_collective(node_id last) const {
  planned_collective const& one = collective_of(last);
  auto all = std::make_unique<planned_collective>();
  all->members = one.members, all->axes = one.axes, all->with = one.with, all->with.members = all->members.data();
  collective_call& call = all->call;
  call.type = one.call.type, call.op = one.call.op, call.kind = one.call.kind;
  call.file = one.call.file, call.line = one.call.line, call.together = one.call.together;
  std::int64_t bytes = 0;  // of one row, or of the block if there are no rows
  each_joined(m_, p_, last, [&](node_id c) {
    dtype const type = collective_of(c).call.type;
    if (bytes_of(type) < bytes_of(call.type)) call.type = type;
    bytes += elements_in_row(collective_of(c)) * static_cast<std::int64_t>(bytes_of(type));
  });
  std::int64_t const elements = bytes / static_cast<std::int64_t>(bytes_of(call.type));
  if (one.call.kind == collective::move) {
    all->counts = one.counts, all->moves = with_width(one.moves, elements);
    call.moves = &all->moves, call.dims = 2;
    call.extent[0] = one.call.extent[one.moves.rows], call.extent[1] = elements;
  } else {
    call.dims = 1, call.extent[0] = elements;
  }
  return all;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
