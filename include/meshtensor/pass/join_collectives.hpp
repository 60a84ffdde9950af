// SPDX-License-Identifier: Apache-2.0
// Joins collectives into one message: small all_reduces, and permutes of any size that have the same sources.
// before: scheduled, bound and placed.  after: every joined collective names the last one of its group, at which all of
// them start.
// why: even a short message costs its latency, and biases and norms are many and short. A hop sends all parameters to
// the same neighbours.
#pragma once

#include "meshtensor/pass/plan_memory/liveness.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// The largest all_reduce that is copied into a joint message, and the largest joint message of all_reduces, in bytes.
/// Permutes have no limit. Each of their bytes is copied once by its sender and once by its receiver.
inline constexpr std::int64_t joined_bytes_each = 64 << 10, joined_bytes = 1 << 20;

namespace detail {

struct joiner {
  static constexpr int most_open = 8;
  struct bucket {
    id last;  // the last collective, plus 1, or 0 if there is none
    int count;
    std::int64_t bytes;
  };
  meshtensor::module const& m;
  plan& p;
  bucket open[most_open];
  id before[max_nodes];  // the previous collective in the same bucket, plus 1

  constexpr joiner(module const& source, plan& target) : m(source), p(target), open{}, before{} {
    for (int r = 0; r < m.region_count; ++r) {
      for (int i = 0; i < p.steps.count[r]; ++i) visit(p.steps.nodes[p.steps.first[r] + i]);
      for (bucket& b : open) close(b);
    }
  }

 private:
  constexpr void visit(node_id which) {
    node const& n = m.nodes[which];
    if (n.kind == primitive::wait) {  // the awaited collective must have started
      node const& c = awaited(m, n);
      for (bucket& b : open)
        if (b.last != 0 && alike(c, m.nodes[b.last - 1])) close(b);
    }
    if (n.regions.count != 0 && n.kind != primitive::kernel && !is_whole(n))
      for (bucket& b : open) close(b);  // collectives before a loop do not wait for it
    bool const reduces = n.kind == primitive::all_reduce;
    std::int64_t const bytes = reduces || permutes(n) ? p.numbers.local_bytes(m.operand_value(n, 0)) : 0;
    if (bytes == 0 || p.numbers.members(axes_of_collective(n)) < 2) return;
    if (reduces && bytes > joined_bytes_each) return;
    if (ends_behind_loop(n) && p.where[p.root[m.result(n)]] != place::stack_slice) return;  // it ends at once
    for (bucket& b : open)
      if (b.last != 0 && alike(n, m.nodes[b.last - 1])) {
        if (reduces && b.bytes + bytes > joined_bytes) close(b);
        return put(b, which, bytes);
      }
    for (bucket& b : open)
      if (b.last == 0) return put(b, which, bytes);
  }
  constexpr void put(bucket& b, node_id which, std::int64_t bytes) {
    before[which] = b.last;
    b.last = static_cast<id>(which + 1), b.bytes += bytes, ++b.count;
  }
  constexpr void close(bucket& b) {
    if (b.count > 1)
      for (id c = b.last; c != 0; c = before[c - 1]) p.joined[c - 1] = b.last;
    b = {};
  }
  /// Whether two collectives may join. They need the same region, ranks, kind and function, and waits on the same side
  /// of the loop. Sums need the same dtype too, but permutes only move bytes.
  constexpr bool alike(node const& a, node const& b) const {
    return a.kind == b.kind && a.region == b.region && a.function == b.function &&
           axes_of_collective(a) == axes_of_collective(b) && ends_behind_loop(a) == ends_behind_loop(b) &&
           (permutes(a) ? have_equal_rows(a, b) : m.operand_value(a, 0).type == m.operand_value(b, 0).type);
  }
  /// Whether two permutes over the same axes send the same rows between the same ranks. They need the same sources, and
  /// each rank needs the same part of the rows of both.
  constexpr bool have_equal_rows(node const& a, node const& b) const {
    if (m.operand(a, 1) != m.operand(b, 1)) return false;
    if (move_rows_attributes::of(a).from != move_rows_attributes::of(b).from) return false;
    placement const &of_a = m.operand_value(a, 0).layout, &of_b = m.operand_value(b, 0).layout;
    for (int axis = 0; axis < max_axes; ++axis)
      if ((axes_of_collective(a) >> axis & 1u) != 0 && of_a.order(axis) != of_b.order(axis)) return false;
    return true;
  }
};

}  // namespace detail

/// Whether a collective starts together with a later one.
constexpr bool goes_with_another(plan const& p, int which) {
  return p.joined[which] != 0 && p.joined[which] != which + 1;
}

/// Calls `visit` for each collective that is joined to `last`, in the order of their starts.
template <class Visit>
constexpr void each_joined(module const& m, plan const& p, node_id last, Visit visit) {
  region_id const r = m.nodes[last].region;
  for (int i = 0; i < p.steps.count[r]; ++i)
    if (node_id const c = p.steps.nodes[p.steps.first[r] + i]; p.joined[c] == last + 1) visit(c);
}

constexpr void join_collectives(module const& m, plan& p) { detail::joiner(m, p); }

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
