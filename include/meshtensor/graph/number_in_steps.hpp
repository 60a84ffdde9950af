// SPDX-License-Identifier: Apache-2.0
// Numbers that count, in the bodies of mt::steps. Before a call, such a number has the value for the first step of the
// call. Each body computes its own value from it.
#pragma once

#include "meshtensor/graph/variables.hpp"

namespace meshtensor::detail {

/// Whether a number counts the steps within a call, or is computed from one that does.
constexpr bool counts_steps_of_call(module const& m, number_id row) {
  number_row const& n = m.numbers[row];
  if (n.is_count()) return n.second != id{no_id};
  if (n.kind != number_row::expression) return false;
  return counts_steps_of_call(m, static_cast<number_id>(n.first)) ||
         (n.second != id{no_id} && counts_steps_of_call(m, static_cast<number_id>(n.second)));
}

constexpr value_id number_function(builder& b, function f, std::initializer_list<value_id> operands) {
  return b.add(primitive::elementwise, static_cast<std::uint8_t>(f), ids(operands.begin(), operands.size()), dtype::f64,
               shape{});
}
constexpr value_id constant_in_f64(builder& b, number_id row) {
  return b.add(primitive::constant, {}, dtype::f64, shape{}, {{row}});
}

/// The index of the iteration of an open frame, in f64.
constexpr value_id index_of_iteration(builder& b, int level) {
  dim_id const dim = b.frames[level].loop_dim;
  region_id const entry = b.frames[0].around;
  value_id all = no_id;
  for (int i = 0; i < b.m.node_count && all == no_id; ++i) {
    node const& n = b.m.nodes[i];
    if (n.kind != primitive::iota || n.region != entry) continue;
    value const& v = b.m.result_value(n);
    if (v.type == dtype::f64 && v.dims.at[0] == dim) all = b.m.result(n);
  }
  if (all == no_id) all = made_in_entry(b, primitive::iota, dtype::f64, shape{}.add(dim), {});
  return seen_from_entry(b, all, [&](frame const& f) { return &f == &b.frames[level]; });
}

/// The number of steps that this call has made before the current one, in f64. It is no_id if no mt::steps is open.
/// `steps` is the number of steps of a call where the number was made, because more bodies may be open now.
constexpr value_id steps_before_in_call(builder& b, id steps) {
  number_id all = no_id;
  value_id before = no_id;
  for (int level = 0; level < b.depth && id{all} != steps; ++level) {
    if (!b.frames[level].is_steps) continue;
    number_id const here =
        b.add_number(number_row{number_row::extent, function::copy, b.frames[level].loop_dim, no_id, 0});
    value_id const index = index_of_iteration(b, level);
    if (before == no_id) {
      all = here, before = index;
      continue;
    }
    all = b.add_number(number_row{number_row::expression, function::multiply, all, here, 0});
    before = number_function(b, function::multiply, {before, constant_in_f64(b, here)});
    before = number_function(b, function::add, {before, index});
  }
  return before;
}

/// The value that a number has in this step of a call, in f64.
constexpr value_id number_in_steps(builder& b, number_id row) {
  number_row const n = b.m.numbers[row];
  if (!counts_steps_of_call(b.m, row)) return constant_in_f64(b, row);
  if (n.kind != number_row::expression) {
    value_id const at_start = constant_in_f64(b, row), before = steps_before_in_call(b, n.second);
    return before == no_id ? at_start : number_function(b, function::add, {at_start, before});
  }
  value_id const first = number_in_steps(b, static_cast<number_id>(n.first));
  if (n.second == id{no_id}) return number_function(b, n.f, {first});
  return number_function(b, n.f, {first, number_in_steps(b, static_cast<number_id>(n.second))});
}

/// A number as the value of an output, which f64 must hold.
constexpr value_id number_for_output(builder& b, number const& n) {
  number_id const row = b.add_number(n);
  if (b.depth != 0 && counts_steps_of_call(b.m, row)) return number_in_steps(b, row);
  return b.add(primitive::constant, {}, dtype::f64, shape{}, {{row, 1}});
}

/// Adds a number that all steps of a call share, because an operation reads it before the call.
constexpr number_id add_number_of_call(builder& b, number const& n) {
  number_id const row = b.add_number(n);
  b.expect(
      b.depth == 0 || !counts_steps_of_call(b.m, row),
      "G55 a position, limit or padding counts the steps within a call of mt::steps, but all steps of a call share "
      "it: give slice or put a tensor as the position, mt::full(s, s.step(), mt::i64), or feed it as an input");
  return row;
}

}  // namespace meshtensor::detail
