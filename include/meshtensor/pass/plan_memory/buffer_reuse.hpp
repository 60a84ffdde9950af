// SPDX-License-Identifier: Apache-2.0
// Decides which results reuse an operand's buffer. For example, the next value of a variable or a carry reuses the old
// value's buffer, also if a loop along the variable stacks it. A slice that a loop stacks is computed in its place in
// the stack. This header also says which operands a kernel's result may overwrite, and plan_memory chooses among them.
#pragma once

#include "meshtensor/pass/fuse/epilogue.hpp"
#include "meshtensor/pass/fuse/read_kernel.hpp"
#include "meshtensor/pass/plan_memory/liveness.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// Finds the values that reuse the buffers of other values, from the lifetimes that a survey of the program has found.
struct buffer_reuse {
  meshtensor::module const& m;
  liveness const& life;
  id next_value[max_values];  // of a value: the value whose buffer it reuses, plus 1
  bool fills[max_values];     // whether the value is computed in its slice of a stacked result

  constexpr buffer_reuse(module const& source, liveness const& survey)
      : m(source), life(survey), next_value{}, fills{}, made{}, last{}, overwrites{}, is_read{} {}

  /// Mask of the operands whose buffer a kernel's result may reuse. The kernel reads such an operand for the last time
  /// when it writes the result, and no other operand shares its buffer.
  constexpr unsigned may_overwrite(node const& n, int result) {
    bool& known = is_read[m.values[m.result(n, 0)].node];
    if (!known) {
      if (is_whole(n)) {
        overwrites[m.result(n, 0)] = static_cast<std::uint16_t>(overwritten_by_epilogue(m, n));
      } else {
        kernel_reading const reading = read_kernel(m, n);
        for (int i = 0; i < n.results.count; ++i) overwrites[m.result(n, i)] = reading.overwrites[i];
      }
      known = true;
    }
    unsigned mask = overwrites[m.result(n, result)];
    for (int i = 0; i < n.operands.count && mask != 0; ++i)
      for (int k = 0; k < i; ++k)
        if (life.root(m.operand(n, i)) == life.root(m.operand(n, k))) mask &= ~(1u << i | 1u << k);
    return mask;
  }
  /// The time at which a value, or another value in its memory, is used last.
  constexpr int last_use(value_id v) const { return last[v]; }
  /// Finds all reuse. Call it after the survey.
  constexpr void find(int entry) {
    for (int v = 0; v < m.value_count; ++v)
      made[v] = life.begin[v], last[v] = life.end[life.root(static_cast<value_id>(v))];
    of_variables(entry);
    for (int i = 0; i < m.node_count; ++i)
      if (m.nodes[i].kind == primitive::repeat) of_loop(m.nodes[i]);
  }

 private:
  constexpr void of_variables(int entry) {
    id old_value[max_variables] = {};  // the value read from the variable, plus 1
    for (int i = 0; i < m.node_count; ++i) {
      node const& n = m.nodes[i];
      if (n.region != entry) continue;
      if (n.kind == primitive::read)
        old_value[variable_of(n)] = old_value[variable_of(n)] == 0 ? static_cast<id>(m.result(n) + 1) : no_id;
      if (n.kind != primitive::write) continue;
      value_id const v = m.operand(n, 0);
      id const old = old_value[variable_of(n)];
      if (old == 0 || old == id{no_id}) continue;
      if (is_made_in(static_cast<region_id>(entry), v)) take_over(v, static_cast<value_id>(old - 1), last[old - 1]);
      else if (is_stacked_over(static_cast<region_id>(entry), v, static_cast<value_id>(old - 1))) next_value[v] = old;
    }
  }
  /// Whether a loop that runs along `old` stacks `v`, and nothing reads `old` afterwards. Then each slice of `v` may
  /// overwrite the slice of `old` that the same iteration reads.
  constexpr bool is_stacked_over(region_id region, value_id v, value_id old) {
    node const& n = m.nodes[m.values[v].node];
    if (n.kind != primitive::repeat || n.region != region || next_value[v] != 0) return false;
    loop const l = loop::of(n);
    if (l.ends_early) return false;  // slices of iterations that do not run are zeros
    value_id const seen = slice_of(n, old);
    if (m.values[v].index < l.carries + l.sums || seen == no_id || life.read[life.root(old)] != made[v]) return false;
    list const results = m.regions[m.region_of(n, 0)].results;
    for (int i = 0; i < results.count; ++i)
      if (life.root(m.link(results, i)) == seen) return false;  // it would be stored after its slice is overwritten
    return true;
  }
  /// The body's argument for a slice of `whole`, or no_id unless this argument is the loop's only use of `whole`.
  constexpr value_id slice_of(node const& n, value_id whole) {
    loop const l = loop::of(n);
    int times = 0, at = 0;
    for (int i = 0; i < n.operands.count; ++i)
      if (life.root(m.operand(n, i)) == life.root(whole)) ++times, at = i;
    bool const stacked = times == 1 && at >= l.carries && at < l.carries + l.stacked;
    return stacked ? m.link(m.regions[m.region_of(n, 0)].arguments, at) : no_id;
  }
  /// Finds reuse for a loop's carries, and the stacked results that an iteration computes in place.
  constexpr void of_loop(node const& n) {
    loop const l = loop::of(n);
    region_id const body = m.region_of(n, 0);
    list const arguments = m.regions[body].arguments, results = m.regions[body].results;
    for (int i = 0; i < results.count; ++i) {
      value_id v = m.link(results, i);
      while (m.nodes[m.values[v].node].region == body && life.renames(m.nodes[m.values[v].node]))
        v = m.operand(m.nodes[m.values[v].node], 0);
      if (!is_made_in(body, v)) continue;
      if (i < l.carries) {
        value_id const old = m.link(arguments, i);
        if (life.root(old) == old) take_over(v, old, life.read_inside[old]);
      } else if (i >= l.carries + l.sums && next_value[v] == 0) {
        bool const is_spread = m.result_value(n, i).layout.axes_of(0) != 0;  // not every rank has each slice
        fills[v] = !fills[v] && !is_spread && !is_given_twice(results, v) && is_free_when_made(n, i, v);
      }
    }
  }
  /// Whether the slice's place in the stack holds no data that is still read when the slice is computed.
  constexpr bool is_free_when_made(node const& n, int result, value_id v) {
    id const taken = next_value[m.result(n, result)];
    if (taken == 0) return true;
    value_id const seen = slice_of(n, static_cast<value_id>(taken - 1));
    return life.read[seen] < made[v] ||
           (life.read[seen] == made[v] && may_write_over(m.nodes[m.values[v].node], v, seen));
  }
  constexpr bool is_given_twice(list results, value_id v) {
    int times = 0;
    for (int i = 0; i < results.count; ++i) times += life.root(m.link(results, i)) == life.root(v) ? 1 : 0;
    return times > 1;
  }
  constexpr bool is_made_in(region_id region, value_id v) const {
    node const& maker = m.nodes[m.values[v].node];
    bool const computed = maker.kind == primitive::kernel || is_whole(maker) ||
                          (is_computed(maker.kind) && maker.kind != primitive::iteration);
    return computed && !shares_memory(maker) && maker.region == region && next_value[v] == 0;
  }
  /// Lets `v` reuse the buffer of `old`, whose last read is at time `until`. This is possible in three cases: the last
  /// read is before `v` is computed, a kernel computes `v` and allows it, or `v` is `old` updated in place.
  constexpr void take_over(value_id v, value_id old, int until) {
    node const& maker = m.nodes[m.values[v].node];
    bool const last_there = until == made[v] && may_write_over(maker, v, old);
    if (until < made[v] || last_there) next_value[v] = static_cast<id>(old + 1);
  }
  constexpr bool may_write_over(node const& maker, value_id v, value_id old) {
    if (declared(m, maker).buffer == buffer_use::update) {
      for (int i = 0; i < maker.operands.count; ++i)
        if ((life.root(m.operand(maker, i)) == life.root(old)) != (i == 0)) return false;
      return true;
    }
    return (maker.kind == primitive::kernel || is_whole(maker)) &&
           (may_overwrite(maker, m.values[v].index) >> place_of(maker, old) & 1) != 0;
  }
  constexpr int place_of(node const& n, value_id v) const {
    for (int k = 0; k < n.operands.count; ++k)
      if (m.operand(n, k) == v) return k;
    return 31;
  }

  int made[max_values], last[max_values];  // of values: the times of computation and of last use
  std::uint16_t overwrites[max_values];    // of a kernel's result: mask of the operands whose buffer it may reuse
  bool is_read[max_nodes];                 // whether the `overwrites` of a kernel's results are known
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
