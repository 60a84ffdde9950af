// SPDX-License-Identifier: Apache-2.0
// Updates of variables in the bodies of loops. They become carries, or slices that the loop stacks, and one write
// behind the loop.
#pragma once

#include "meshtensor/graph/builder.hpp"

namespace meshtensor::detail {

/// The outer value for which an argument of an open frame stands, whole or in slices, or of which it is the view in an
/// open each. It is no_id for a carry, and for a value made inside.
constexpr value_id outer_of(builder const& b, value_id argument) {
  for (int e = 0; e < b.each_count; ++e)
    for (int i = 0; i < b.eaches[e].inside.count; ++i)
      if (b.eaches[e].inside.at[i] == argument) return b.eaches[e].outside.at[i];
  for (int level = 0; level < b.depth; ++level) {
    frame const& f = b.frames[level];
    if (f.region != b.m.values[argument].region) continue;
    for (int i = 0; i < f.stacked.count; ++i)
      if (f.stacked_arguments.at[i] == argument) return f.stacked.at[i];
    for (int i = 0; i < f.invariants.count; ++i)
      if (f.invariant_arguments.at[i] == argument) return f.invariants.at[i];
  }
  return no_id;
}

/// The variable whose value before the step is `v`, or no_id if there is none. It also looks through open loops.
constexpr variable_id variable_read(builder const& b, value_id v) {
  meshtensor::module const& m = b.m;
  bool is_outer = false;
  for (bool is_first = true; v != no_id; is_first = false) {
    node const& n = m.nodes[m.values[v].node];
    if (n.kind == primitive::read) return variable_of(n);
    if (b.regime != nullptr)
      if (variable_id const which = b.regime->variable_seen(v); which != no_id) return which;
    bool const was_cast =
        is_first && n.kind == primitive::elementwise && n.function == static_cast<std::uint8_t>(function::cast);
    bool const is_sequence = is_outer && n.kind == primitive::transpose;  // it leads with the loop's dim
    if (n.kind == primitive::argument) v = outer_of(b, v);
    else if (n.kind == primitive::hide || was_cast || is_sequence) v = m.operand(n, 0);
    else return no_id;
    is_outer = is_outer || n.kind == primitive::argument || n.kind == primitive::hide;
  }
  return no_id;
}

/// Looks through the views that indices of eaches have of a variable. `next`, its next value for one index, becomes the
/// next value for all indices that have slices of the variable, with the dims of the variable in the region.
constexpr void show_all(builder& b, value_id& before, value_id& next) {
  auto const maker = [&](value_id v) { return &b.m.nodes[b.m.values[v].node]; };
  for (node const* n = maker(before); n->kind == primitive::hide || n->kind == primitive::transpose;
       n = maker(before)) {
    value_id const outer = b.m.operand(*n, 0);
    value const like = b.m.values[outer];
    if (n->kind == primitive::hide && like.dims.count != b.m.values[before].dims.count) {
      dim_id const dim = view_attributes::of(*n).dim;
      next = b.add(primitive::show, {next}, like.type, led_by(dim, b.m.values[next].dims),
                   view_attributes{dim, false}.packed());
    }
    if (!(b.m.values[next].dims == like.dims)) next = b.add(primitive::transpose, {next}, like.type, like.dims);
    before = outer;
  }
}

/// The error of an update of a variable in the body of a composite. Empty if there is none.
constexpr diagnostic refused_in_regions(builder const& b, variable const& kept) {
  diagnostic d{};
  for (int level = 0; level < b.depth; ++level)
    if (b.m.regions[b.frames[level].region].kind > region_kind::branch)
      return add_path(d << "G06 '", b.m, kept.path)
             << "' is updated in a composite: return its next value from there, and update it outside";
  return d;
}
/// The last update of a variable in an open loop or branch, or null if there is none yet.
constexpr state_update* update_in_regions(builder& b, variable_id which) {
  for (int i = b.update_count; i-- > 0;)
    if (b.updates[i].variable == which && !b.updates[i].of_other_branch) return &b.updates[i];
  return nullptr;
}
/// What one index of the open eaches sees of `v`, a next value for all indices.
constexpr value_id slice_of_index(builder& b, value_id v) {
  int const depth = b.depth_of_value(v);
  for (int e = 0; e < b.each_count; ++e)
    if (b.eaches[e].depth >= depth) v = b.slice(e, v);
  return v;
}
/// Whether the innermost open region is a branch of a cond that stands in `around`.
constexpr bool is_branch_in(builder const& b, region_id around) {
  return b.depth > 0 && b.m.regions[b.region].kind == region_kind::branch && b.frames[b.depth - 1].around == around;
}

/// Replaces a state in the body of the innermost loop. In this body, `before` is its value for all indices of eaches.
constexpr void update_in_loop(builder& b, variable_id which, value_id before, value_id next,
                              counted_update const& counted, bool amends) {
  b.make_room(b.update_count, 1, max_updates, "G24", "states that are updated in loops");
  b.updates[b.update_count++] = {which, b.region, before, b.use(next), b.path, b.site, counted, false, false, amends};
}

/// Writes a variable whose update has left all loops and branches.
constexpr void write_update(builder& b, state_update const& u) {
  node_id const n = b.add_node(primitive::write, 0, ids(&u.next, 1), write_attributes{u.variable, u.counted}.packed());
  b.m.nodes[n].effect = true;
}

/// The states that a loop's body has updated, when the body is complete. If the body sees a slice of a state, it gives
/// a slice, which the loop stacks. Any other state is a carry. The function that closes the body adds these lists to
/// the lists of the loop.
class updated_states {
 public:
  id_list<> starts;  // outside, the first values of the carries
  id_list<> next;    // the next carries
  id_list<> slices;  // to be stacked

  constexpr explicit updated_states(builder& open) : starts{}, next{}, slices{}, b_(open), body_(open.region) {
    frame& f = b_.frames[b_.depth > 0 ? b_.depth - 1 : 0];
    dim_ = f.loop_dim;
    for (int i = 0; i < b_.update_count; ++i) {
      state_update& u = b_.updates[i];
      if (u.region != body_) continue;
      value_id const argument = u.before;
      u.before = outer_of(b_, argument);
      for (value_id v : ids(f.stacked_arguments)) u.stacked = u.stacked || v == argument;
      if (u.stacked) slices.add(u.next);
      else carry(f, u, argument);
    }
  }

  constexpr void add_carries(node_id loop_node) const {
    for (value_id v : ids(next)) b_.add_result(loop_node, b_.m.values[v].type, b_.m.values[v].dims);
  }
  constexpr void add_stacks(node_id loop_node) const {
    for (value_id v : ids(slices)) b_.add_result(loop_node, b_.m.values[v].type, led_by(dim_, b_.m.values[v].dims));
  }
  /// The results of the loop update the states in the body around it, or are written if there is no such body. The
  /// results of `loop_node` for carries and for stacks begin at the positions `carry` and `stack`. `seen` makes the
  /// next value of a state of its value before the loop and of a stack.
  template <class F>
  constexpr void hand_on(node_id loop_node, int carry, int stack, F const& seen) const {
    path_id const path = b_.path;
    site_id const site = b_.site;
    int const count = b_.update_count;
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      state_update u = b_.updates[i];
      if (u.region == body_) {
        b_.path = u.path, b_.site = u.site;
        u.next = b_.m.result(b_.m.nodes[loop_node], u.stacked ? stack++ : carry++);
        if (u.stacked) u.next = seen(u.before, u.next);
        show_all(b_, u.before, u.next);
        u.region = b_.region, u.stacked = false;
        if (b_.depth == 0) write_update(b_, u);
      }
      if (b_.depth != 0) b_.updates[kept++] = u;
    }
    b_.update_count = kept, b_.path = path, b_.site = site;
  }
  constexpr void hand_on(node_id loop_node, int carry, int stack) const {
    hand_on(loop_node, carry, stack, [](value_id, value_id whole) { return whole; });
  }

 private:
  constexpr void carry(frame& f, state_update const& u, value_id argument) {
    int const count = f.invariants.count;
    int kept = 0;
    for (int i = 0; i < count; ++i) {
      if (f.invariant_arguments.at[i] == argument) continue;
      f.invariants.at[kept] = f.invariants.at[i], f.invariant_arguments.at[kept++] = f.invariant_arguments.at[i];
    }
    f.invariants.count = f.invariant_arguments.count = kept;
    f.carries.add(argument), starts.add(u.before);
    // Gradients do not flow from one iteration to the next through a state.
    next.add(b_.add(primitive::elementwise, static_cast<std::uint8_t>(function::stop_gradient), ids(&u.next, 1),
                    b_.m.values[u.next].type, b_.m.values[u.next].dims));
    for (value_id v : ids(f.stacked))
      if (variable_read(b_, v) == u.variable) return sliced_too(u);
  }
  constexpr void sliced_too(state_update const& u) const {
    diagnostic d{};
    add_path(d << "G06 '", b_.m, b_.m.variables[u.variable].path);
    d << "' is updated as a whole in a loop along its dim '" << b_.m.dim_name(dim_) << "'";
    b_.find(add_line(d, b_.m, u.site) << ": update the slice that each iteration sees");
  }
  builder& b_;
  region_id body_;
  dim_id dim_ = no_id;
};

}  // namespace meshtensor::detail
