// SPDX-License-Identifier: Apache-2.0
// Declares parameters and state, and reads their value before a step.
#pragma once

#include <utility>

#include "meshtensor/graph/initializer.hpp"

namespace meshtensor::detail {

/// Reports an error if a variable is declared again with another initializer.
constexpr void require_same_start(builder& b, variable const& v, initializer_kind kind, number_id row) {
  auto const as_said = [&](initializer_kind k) {
    return k == initializer_kind::automatic && v.dims.count - v.own < 2 ? initializer_kind::constant : k;
  };
  initializer_kind const before = as_said(v.start), now = as_said(kind);
  if (before == now && (before == initializer_kind::automatic || v.number == row)) return;
  diagnostic d{};
  add_path(d << "G03 '", b.m, v.path) << "' is declared twice, starting with ";
  add_line(add_start(d, b.m, v.start, v.number), b.m, v.site) << " and with ";
  b.find(add_line(add_start(d, b.m, kind, row), b.m, b.site)
         << ": give both the same initializer, or one of them another name");
}

/// Reports an error if a rule by which replicas are merged does not fit a variable.
constexpr void require_mergeable(builder& b, path_id path, dtype type, shape const& own, initializer const& start,
                                 merge_rule rule) {
  diagnostic d{};
  bool is_second = false;
  for (int i = 0; i < b.m.variable_count; ++i)
    is_second = is_second || (b.m.variables[i].merge == merge_rule::mass && b.m.variables[i].path != path);
  if (rule == merge_rule::mass && (own.count != 0 || !is_float(type) || is_second))
    b.note(add_path(d << "T55 '", b.m, path)
           << "' has the rule mass, which is for one state: a float without dims, the weight of a replica");
  else if (rule == merge_rule::sum && type == dtype::boolean)
    b.note(add_path(d << "T55 '", b.m, path) << "' is of bools, which have no sum: give it the rule largest");
  else if ((rule == merge_rule::mean || rule == merge_rule::weighted_mean) && !is_float(type))
    b.note(add_path(d << "T55 '", b.m, path)
           << "' is of integers, which have no mean: give it the rule largest or sum");
  else if (rule == merge_rule::restart && start.kind != initializer_kind::constant)
    b.note(add_path(d << "T55 '", b.m, path)
           << "' has the rule restart, but does not start with a constant: give it one, as mt::zeros");
}

/// Finds or makes a variable. Its dims are those of the enclosing loops that do not share parameters, followed by
/// `own`.
constexpr variable_id declare(builder& b, path_id path, dtype type, shape const& own, initializer const& start,
                              bool trainable, merge_rule rule = merge_rule::automatic) {
  shape dims{};
  for (int level = 0; level < b.depth; ++level)
    if (!b.frames[level].shares_parameters) dims.add(b.frames[level].loop_dim);
  std::uint16_t equal = 0;
  if (b.regime != nullptr && b.regime->variables_along != no_id) {
    equal = static_cast<std::uint16_t>(1u << dims.count);
    dims.add(b.regime->variables_along);
  }
  for (int e = 0; e < b.each_count; ++e)
    if (!b.eaches[e].shares_variables) {
      if (b.eaches[e].starts_equal) equal = static_cast<std::uint16_t>(equal | 1u << dims.count);
      dims.add(b.eaches[e].dim);
    }
  int const stacked = dims.count;
  int const along = b.regime == nullptr || b.regime->replicas == no_id ? -1 : dims.find(b.regime->replicas);
  replica_sharing const sharing = along < 0 ? replica_sharing{} : b.regime->sharing;
  if (rule != merge_rule::automatic) require_mergeable(b, path, type, own, start, rule);
  for (int i = 0; i < own.count; ++i) {
    if (dims.has(own.at[i])) {
      diagnostic d{};
      bool const is_of_a_loop = dims.find(own.at[i]) < stacked;
      add_path(d << (is_of_a_loop ? "T43 '" : "T42 '"), b.m, path)
          << "' has the dim '" << b.m.dim_name(own.at[i]) << "' twice";
      if (is_of_a_loop) d << ": inside repeat and each a parameter has their dim by itself";
      else d << ": declare a second dim of the same extent, mt::dim<\"other\", " << b.m.dim_name(own.at[i]) << " + 0>";
      b.note(d);
    } else {
      dims.add(own.at[i]);
    }
  }
  for (int i = 0; i < b.m.variable_count; ++i) {
    variable const& v = b.m.variables[i];
    if (v.path != path) continue;
    if (v.dims == dims && v.type == type && v.trainable == trainable) {
      require_same_start(b, v, start.kind, b.add_number(start.argument));
      if (diagnostic d{}; v.equal != equal)
        b.note(add_path(d << "G03 '", b.m, path)
               << "' starts equal for all indices of an each in one place, but not in "
                  "another: give mt::start_equal to both");
      if (diagnostic d{}; v.merge != rule)
        b.note(
            add_path(d << "G03 '", b.m, path)
            << "' is declared twice, with two rules by which replicas are merged: give both the same mt::merge_rule");
      if (b.declared[i] && v.again < 255) ++b.m.variables[i].again;
      b.declared[i] = true;
      b.m.variables[i].sharing = v.sharing.together_with(sharing);
      return static_cast<variable_id>(i);
    }
    diagnostic d{};
    add_path(d << "G03 '", b.m, path) << "' is declared twice, as ";
    add_line(add_type(d, b.m, v.type, v.dims) << (v.trainable ? " (a parameter)" : " (state)"), b.m, v.site);
    add_type(d << " and as ", b.m, type, dims) << (trainable ? " (a parameter)" : " (state)");
    b.note(d << ": give one of them another name");
  }
  if (start.kind == initializer_kind::constant) require_element(b, start.argument, type, "is the initial value of");
  b.make_room(b.m.variable_count, 1, max_variables, "G24", "parameters and states, those of the optimizer included");
  b.m.variables[b.m.variable_count] = {path,
                                       type,
                                       trainable,
                                       start.kind,
                                       b.add_number(start.argument),
                                       dims,
                                       static_cast<std::uint8_t>(stacked),
                                       equal,
                                       {},
                                       b.site,
                                       0,
                                       false,
                                       rule,
                                       static_cast<std::uint8_t>(along + 1),
                                       false,
                                       sharing};
  b.declared[b.m.variable_count] = true;
  return static_cast<variable_id>(b.m.variable_count++);
}

/// How the body of the innermost loop and each sees `v`, a value of the entry. A loop takes slices of it if `stacks`
/// says so, and an each takes slices if it has the each's dim.
constexpr value_id seen_from_entry(builder& b, value_id v, auto const& stacks) {
  region_id const here = b.region;
  int const depth = b.depth, eaches = std::exchange(b.each_count, 0);
  for (int level = 0; level <= depth; ++level) {
    b.region = level == depth ? here : b.frames[level].around, b.depth = level;
    if (level > 0) v = stacks(b.frames[level - 1]) ? b.add_stacked(v) : b.use(v);
    for (int e = 0; e < eaches; ++e)
      if (b.eaches[e].depth == level) v = b.view(e, v);
  }
  b.region = here, b.depth = depth, b.each_count = eaches;
  return v;
}

/// Adds a node without operands to the entry.
constexpr value_id made_in_entry(builder& b, primitive kind, dtype type, shape const& dims, attributes const& a) {
  region_id const here = b.region;
  int const depth = b.depth, eaches = std::exchange(b.each_count, 0);
  if (depth != 0) b.region = b.frames[0].around;
  b.depth = 0;
  value_id const v = b.add(kind, {}, type, dims, a);
  b.region = here, b.depth = depth, b.each_count = eaches;
  return v;
}
/// The same for an input, of which the bodies of mt::steps and of eaches see slices.
constexpr value_id in_entry(builder& b, primitive kind, dtype type, shape const& dims, attributes const& a) {
  return seen_from_entry(b, made_in_entry(b, kind, type, dims, a), [](frame const& f) { return f.is_steps; });
}

/// The value of a variable before this step, at the current position. The entry reads it once, and every loop that
/// stacks it takes slices of it.
constexpr value_id read(builder& b, variable_id which) {
  meshtensor::module& m = b.m;
  region_id const here = b.region;
  int const depth = b.depth;
  region_id const entry = depth == 0 ? here : m.regions[b.frames[0].region].parent;
  value_id v = no_id;
  bool const is_new = entry == b.entry && !b.was_read[which];
  b.was_read[which] = true;
  for (int i = entry == b.entry ? b.first_of_entry : 0; i < m.node_count && v == no_id && !is_new; ++i)
    if (m.nodes[i].kind == primitive::read && variable_of(m.nodes[i]) == which && m.nodes[i].region == entry)
      v = m.result(m.nodes[i]);
  if (v == no_id) {
    b.region = entry, b.depth = 0;
    v = b.add(primitive::read, {}, m.variables[which].type, m.variables[which].dims, read_attributes{which}.packed());
  }
  if (b.regime != nullptr) {
    int const eaches = std::exchange(b.each_count, 0);
    b.region = entry, b.depth = 0;
    v = b.regime->seen(b, which, v);
    b.each_count = eaches;
  }
  b.region = here, b.depth = depth;
  return seen_from_entry(b, v, [](frame const& f) { return !f.shares_parameters; });
}

}  // namespace meshtensor::detail
