// SPDX-License-Identifier: Apache-2.0
// Computes the liveness and aliases of values for the memory plan. This header also declares the plan.
#pragma once

#include "meshtensor/pass/bind/known_number.hpp"
#include "meshtensor/pass/schedule.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

enum class place : std::uint8_t {
  nowhere,        // not in memory, because it never runs
  arena,          // in the arena, at an offset
  double_buffer,  // in two buffers of the arena, between which a loop's iterations alternate
  variable,       // in the store's own memory
  input,          // in memory fed by the caller
  slice,          // a slice of a stacked operand: its address advances with the iteration
  stack_slice,    // the slice of a stacked result that the iteration computes in place. Its address advances, too
  strided_slice,  // a strided view of another value: address and strides are computed when its slice node runs
};

/// Whether the value takes room in the arena.
constexpr bool is_in_arena(place where) { return where == place::arena || where == place::double_buffer; }

struct plan {
  binding numbers;
  order steps;
  value_id root[max_values];  // the value whose buffer a value shares, or itself if it has a buffer of its own
  place where[max_values];
  id joined[max_nodes];  // of a joined collective: the collective at which all of its group start, plus 1
  std::int64_t offset[max_values];
  std::int64_t arena_bytes;
  std::int64_t variable_bytes, input_bytes;  // outside the arena, per rank
  int fullest;                               // the node at which the arena is fullest
};

/// Whether the loop body `body` computes `v`, a slice that its loop stacks, in its place in the stack. An argument of
/// the body may be in a slice of an outer loop's result. In this case it is copied like any other value.
constexpr bool is_stack_slice_of(module const& m, plan const& p, region_id body, value_id v) {
  return p.where[p.root[v]] == place::stack_slice && m.nodes[m.values[p.root[v]].node].region == body;
}

/// Whether a collective of several ranks starts one iteration ahead of its use.
constexpr bool starts_ahead(binding const& numbers, node const& n) { return starts_ahead(n) && !numbers.is_alone(n); }

/// Each value begins at a multiple of this number of bytes.
inline constexpr std::int64_t plan_alignment = 64;
constexpr std::int64_t planned_bytes(binding const& numbers, value const& v) {
  return (numbers.local_bytes(v) + plan_alignment - 1) / plan_alignment * plan_alignment;
}

namespace detail {

/// The live ranges of values. A walk through the nodes in execution order fills them, and `now` is the time.
struct liveness {
  meshtensor::module const& m;
  plan& p;
  int now;
  int begin[max_values], end[max_values];  // of roots: first and last use
  int read[max_values];                    // of roots: last read
  int read_inside[max_values];             // of a loop's carries: last read in the loop
  id within[max_values];                   // of a strided view: the value that it views, plus 1
  bool replaces[max_values];               // becomes a variable's new value or a region's result, under any alias
  bool wants_copy[max_values];             // some reader is no einsum or whole composite of the value's own region
  bool put_into[max_values];               // updated in place by a put, under any alias

  constexpr liveness(module const& source, plan& target)
      : m(source),
        p(target),
        now(0),
        begin{},
        end{},
        read{},
        read_inside{},
        within{},
        replaces{},
        wants_copy{},
        put_into{} {
    find_what_replaces();
    find_readers();
  }

  constexpr void start() {
    now = 0;
    for (int v = 0; v < m.value_count; ++v)
      p.root[v] = static_cast<value_id>(v), begin[v] = -1, end[v] = -1, read[v] = -1;
  }
  constexpr value_id root(value_id v) const {
    while (p.root[v] != v) v = p.root[v];
    return v;
  }
  constexpr void same(value_id v, value_id as) { p.root[v] = root(as); }
  constexpr void touch(value_id v) {
    value_id const r = root(v);
    if (begin[r] < 0) begin[r] = now;
    if (end[r] < now) end[r] = now;
    if (within[r] != 0) touch(static_cast<value_id>(within[r] - 1));
  }
  constexpr void look(value_id v) {
    touch(v);
    value_id const r = root(v);
    read[r] = now;
    if (within[r] != 0) look(static_cast<value_id>(within[r] - 1));
  }
  /// Whether a slice of a region's argument is a view, without a copy. This is possible if only einsums and composites
  /// that run whole read it, in its own region, because they take any positive strides. If a put updates the argument,
  /// the slice is copied. Otherwise the put would have to wait for the readers of the slice.
  constexpr bool is_strided_slice(node const& n) const {
    if (declared(m, n).buffer != buffer_use::window) return false;
    value_id const of = m.operand(n, 0);
    return m.nodes[m.values[of].node].kind == primitive::argument && !put_into[of] && !wants_copy[m.result(n)] &&
           known_step(m, p.numbers, strided_window::of(n).step).value_or(0) > 0;
  }
  /// Whether the result is an alias of the operand. This holds for a collective over one rank, unless its operand
  /// outlives the step or the iteration and its result replaces such a value. In this case it copies, as it does over
  /// several ranks.
  constexpr bool renames(node const& n) const {
    if (shares_memory(n) || ends_behind_loop(n)) return true;
    return p.numbers.is_alone(n) && !(replaces[m.result(n)] && outlives(m.operand(n, 0)));
  }
  constexpr bool outlives(value_id v) const {
    while (shares_memory(m.nodes[m.values[v].node])) v = m.operand(m.nodes[m.values[v].node], 0);
    primitive const kind = m.nodes[m.values[v].node].kind;
    return kind == primitive::argument || kind == primitive::read || kind == primitive::input;
  }
  constexpr void find_what_replaces() {
    for (int r = 0; r < m.region_count; ++r)
      for (int i = 0; i < m.regions[r].results.count; ++i) replaces[m.link(m.regions[r].results, i)] = true;
    for (int i = m.node_count; i-- > 0;) {
      node const& n = m.nodes[i];
      if (n.kind == primitive::write || ((shares_memory(n) || p.numbers.is_alone(n)) && replaces[m.result(n)]))
        replaces[m.operand(n, 0)] = true;
    }
  }
  constexpr void find_readers() {
    for (int r = 0; r < m.region_count; ++r)
      for (int i = 0; i < m.regions[r].results.count; ++i) wants_copy[m.link(m.regions[r].results, i)] = true;
    for (int i = m.node_count; i-- > 0;) {
      node const& n = m.nodes[i];
      if (declared(m, n).buffer == buffer_use::update || (shares_memory(n) && put_into[m.result(n)]))
        put_into[m.operand(n, 0)] = true;
      for (int k = 0; k < n.operands.count; ++k) {
        value_id const v = m.operand(n, k);
        bool const takes_strides = declared(m, n).takes_strides || is_whole(n);
        wants_copy[v] = wants_copy[v] || !takes_strides || n.region != m.nodes[m.values[v].node].region;
      }
    }
  }
};

}  // namespace detail
}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
