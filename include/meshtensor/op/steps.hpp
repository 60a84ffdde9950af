// SPDX-License-Identifier: Apache-2.0
// Runs a program many times in one call.
#pragma once

#include "meshtensor/op/control.hpp"
#include "meshtensor/op/control/zeros_around.hpp"

namespace meshtensor {

/// Which values of a program's outputs `steps` returns.
enum class step_outputs : std::uint8_t { last, every };
/// The outputs of all steps, with the dim of the steps in front.
inline constexpr step_outputs every_step = step_outputs::every;

namespace detail {

template <class S, class Program>
constexpr void record_steps(S const& s, builder& b, dim_id dim, Program const& program, step_outputs which,
                            line const& where) {
  site_id const site = b.site;
  auto const outer_names = b.output_names;
  auto const outer_values = b.output_values;
  b.output_names.count = b.output_values.count = 0;
  b.begin_frame(region_kind::body, no_id, dim, true).is_steps = true;
  program(s);
  auto const names = b.output_names;
  id_list<> given{};
  given.add_all(b.output_values);
  bool const stacks = which == step_outputs::every;
  id_list<> carries{}, results{};
  for (int i = 0; i < given.count && !stacks; ++i)
    carries.add(zeros_around(b, given.at[i])), b.add_carry(carries.at[i]);
  updated_states const states(b);  // after every use, because it turns the arguments of states into carries
  if (!stacks) results.add_all(given);
  results.add_all(states.next);
  if (stacks) results.add_all(given);
  results.add_all(states.slices);
  frame const f = b.end_frame(results);
  b.site = site;
  id_list<> operands = carries;
  operands.add_all(states.starts), operands.add_all(f.stacked), operands.add_all(f.invariants);
  node_id const n = b.add_node(primitive::repeat, 0, operands);
  int const carried = carries.count + states.starts.count;
  loop{dim, carried, f.stacked.count, 0, false, false}.store(b.m.nodes[n]);
  region_id const owned[] = {f.region};
  b.m.nodes[n].regions = b.add_links(owned);
  id_list<> made{};
  auto const add_outputs = [&] {
    for (int i = 0; i < given.count; ++i) {
      value const like = b.m.values[given.at[i]];
      made.add(b.add_result(n, like.type, stacks ? led_by(dim, like.dims) : like.dims));
    }
  };
  if (!stacks) add_outputs();
  states.add_carries(n);
  if (stacks) add_outputs();
  states.add_stacks(n);
  states.hand_on(n, carries.count, carried + (stacks ? given.count : 0));
  b.output_names = outer_names, b.output_values = outer_values;
  for (int i = 0; i < given.count; ++i) {
    named_here label("output");
    label.label = b.m.names[names.at[i]], label.where = where;
    s.output(label, any_tensor<dtype::f32>(&b, made.at[i]));  // of any dtype, as an output takes it
  }
}

}  // namespace detail

/// Runs an unchanged program once for every index of `dim`, one step after the other, in one call: `steps(s, rounds,
/// train_step{})`. Each step has its slice of the inputs, which have `dim` in front, and starts with the parameters and
/// states that the step before has left. The outputs are those of the last step or, with `mt::every_step` as the last
/// argument, those of all steps with `dim` in front.
///
/// `s.step()`, schedules and updates count every step, as in as many calls.
///
/// random  the numbers of each step are its own. They differ from those of as many calls
/// errors  G07 the program is called inside another loop; G55 a number that counts steps is a position or a limit
template <scope S, dim_type D, class Program>
constexpr void steps(S const& s, D dim, Program const& program, step_outputs which = step_outputs::last,
                     line const& where = {}) {
  builder& b = s.graph_builder();
  detail::recording const r(&b, where);
  detail::record_steps(s, b, detail::dim_of(b, dim), program, which, where);
}

}  // namespace meshtensor
