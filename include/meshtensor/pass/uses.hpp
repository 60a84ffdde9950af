// SPDX-License-Identifier: Apache-2.0
// The plan of a program's memory, and what it is made from: when every value is used, and under which names.
#pragma once

#include "meshtensor/pass/bind.hpp"
#include "meshtensor/pass/schedule.hpp"

namespace meshtensor {

enum class place : std::uint8_t {
  nowhere,   // never run
  arena,     // at an offset
  variable,  // the store's own memory
  input,     // what was fed
  slice,     // of a stacked operand: moves with the iteration
  filled,    // the slice of a stacked result that the iteration makes: moves, too
  window,    // within another value: where and in what strides is found as the slice that gives it runs
};

struct plan {
  binding numbers;
  order steps;
  id root[max_values];  // the value whose memory a value shares; itself: its own
  place where[max_values];
  id joined[max_nodes];  // of a collective that travels with others: the one at which they start, plus 1
  std::int64_t offset[max_values];
  std::int64_t arena_bytes;
  std::int64_t variable_bytes, input_bytes;  // beside the arena, per processor
  int fullest;                               // the node at which the arena is fullest
};

namespace detail {

/// Filled by a walk through the nodes as they run: `now` counts them.
struct uses {
  meshtensor::module const& m;
  plan& p;
  int now;
  int begin[max_values], end[max_values];  // of roots: first and last time of use
  int read[max_values];                    // of roots: when they were read last
  id within[max_values];                   // of a window: what it is part of, plus 1
  bool replaces[max_values];               // values that become a variable's or a region's result, by any name

  constexpr uses(module const& source, plan& target)
      : m(source), p(target), now(0), begin{}, end{}, read{}, within{}, replaces{} {
    find_what_replaces();
  }

  constexpr void start() {
    now = 0;
    for (int v = 0; v < m.value_count; ++v) p.root[v] = static_cast<id>(v), begin[v] = -1, end[v] = -1, read[v] = -1;
  }
  constexpr id root(id v) {
    while (p.root[v] != v) v = p.root[v];
    return v;
  }
  constexpr void same(id v, id as) { p.root[v] = root(as); }
  constexpr void touch(id v) {
    id const r = root(v);
    if (begin[r] < 0) begin[r] = now;
    if (end[r] < now) end[r] = now;
    if (within[r] != 0) touch(static_cast<id>(within[r] - 1));
  }
  constexpr void look(id v) {
    touch(v);
    id const r = root(v);
    read[r] = now;
    if (within[r] != 0) look(static_cast<id>(within[r] - 1));
  }
  /// Whether a slice of what a loop is given needs no copy: products alone read it, and they take any strides.
  /// Elsewhere a write may run between a slice and its use.
  constexpr bool is_window(node const& n) const {
    if (n.kind != primitive::slice || m.nodes[m.values[m.operand(n, 0)].node].kind != primitive::argument) return false;
    id const v = m.result(n);
    for (int i = 0; i < m.regions[n.region].results.count; ++i)
      if (m.link(m.regions[n.region].results, i) == v) return false;
    for (int i = 0; i < m.node_count; ++i)
      for (int k = 0; k < m.nodes[i].operands.count; ++k)
        if (m.operand(m.nodes[i], k) == v && (m.nodes[i].kind != primitive::einsum || m.nodes[i].region != n.region))
          return false;
    return true;
  }
  constexpr bool is_alone(node const& n) const {
    return is_collective(n.kind) && p.numbers.members(n.attribute[0]) == 1;
  }
  /// What gives its operand another name. A collective of one processor does, but where it stands between what outlives
  /// the step or the iteration and what replaces that: there it keeps the two apart, as it does for several.
  constexpr bool renames(node const& n) const {
    if (shares_memory(n) || ends_behind_loop(n)) return true;
    return is_alone(n) && !(replaces[m.result(n)] && outlives(m.operand(n, 0)));
  }
  constexpr bool outlives(id v) const {
    while (shares_memory(m.nodes[m.values[v].node])) v = m.operand(m.nodes[m.values[v].node], 0);
    primitive const kind = m.nodes[m.values[v].node].kind;
    return kind == primitive::argument || kind == primitive::read || kind == primitive::input;
  }
  constexpr void find_what_replaces() {
    for (int r = 0; r < m.region_count; ++r)
      for (int i = 0; i < m.regions[r].results.count; ++i) replaces[m.link(m.regions[r].results, i)] = true;
    for (int i = m.node_count; i-- > 0;) {
      node const& n = m.nodes[i];
      if (n.kind == primitive::write || ((shares_memory(n) || is_alone(n)) && replaces[m.result(n)]))
        replaces[m.operand(n, 0)] = true;
    }
  }
};

}  // namespace detail
}  // namespace meshtensor
