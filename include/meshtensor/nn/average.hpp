// SPDX-License-Identifier: Apache-2.0
// Exponential moving average (EMA) of parameters: a copy of a network that follows it slowly.
#pragma once

#include "meshtensor/nn/optimizer.hpp"
#include "meshtensor/nn/own_number.hpp"

namespace meshtensor {
namespace nn {

/// Updates a moving average of every parameter under `original`: mean ← decay · mean + (1 − decay) · next, and mean ←
/// next the first time. `next` is the parameter's value after the optimizer's update of this step. Therefore, call it
/// after `minimize`.
///
///     mt::moving_average{.decay = 0.999}.follow(s / "average", s / "network");
///
/// The copy has the parameters' names under its own scope. It can be used like the network itself, for example as
/// `network(s / "average", x)`, also by another program that shares the parameters. Before the first `follow`, the copy
/// has initial values of its own, from other random numbers than the network's.
///
/// errors  G03 the copy is declared otherwise; G28 there is no parameter under `original`
/// source  Polyak and Juditsky 1992; Tarvainen and Valpola, arXiv:1703.01780
///
/// With `.states`, states of the same dtype under the scope are followed like parameters. For example, a copy of a
/// network with batch norms needs their running averages, because it cannot be evaluated without them.
struct moving_average {
  number decay = 0.999;
  bool states = false;

  template <scope S>
  constexpr void follow(S const& copy, S const& original, line const& where = {}) const {
    constexpr dtype T = meshtensor::detail::parameters_of<S>::value;
    builder& b = copy.graph_builder();
    meshtensor::module& m = b.m;
    auto const here = copy.enter();
    meshtensor::detail::composed const at_line(&b, where, "moving_average");
    number const share = detail::own_row(copy, decay);
    int const end = m.node_count;
    region_id const entry = b.depth == 0 ? b.region : b.frames[0].around;
    bool const counts = meshtensor::detail::is_in_steps_alone(b);
    number_id const steps = meshtensor::detail::steps_of_call(b);
    bool followed = false;
    for (int i = 0; i < end; ++i) {
      node const& n = m.nodes[i];
      if (n.kind != primitive::read || n.region != entry) continue;
      variable_id const from = variable_of(n);
      variable const v = m.variables[from];
      if (!(v.trainable || states) || v.type != T) continue;
      if (!is_under(m, v.path, original.path()) || is_under(m, v.path, copy.path())) continue;
      followed = true;
      value_id const seen = seen_here(b, m.result(n));
      if (seen == no_id) continue;
      auto const next = copy.next(any_tensor<T>(&b, seen));
      any_tensor<T> const mean(&b, meshtensor::detail::read(b, copy_of(b, v, original.path(), copy.path())));
      path_id const path = m.variables[meshtensor::detail::variable_read(b, mean.id)].path;
      number const weight = detail::row(copy, share * minimum(copy.updates(path), 1));
      auto const kept = detail::own_tensor<T>(copy, weight);
      auto const taken = detail::own_tensor<T>(copy, 1 - weight);
      auto const old_part = mean * kept;
      copy.update(mean, old_part + next * taken, counted_update{path, path, steps, !counts});
    }
    if (followed && !counts) {
      auto const done = detail::updates_in_region(copy);
      copy.amend(done, done + 1);
    }
    if (followed) return;
    diagnostic d{};
    meshtensor::add_scope(
        d << "G28 moving_average finds no parameter of dtype " << text_of(T) << " declared before it in ", m,
        original.path());
    b.note(d << ": call it after the layers, with the scope in which they are declared");
  }

 private:
  // The value of a variable before the step, as the current body sees it. It is no_id if the body does not use it and
  // is that of an each or of a loop with parameters for each iteration, because the variable may not be theirs.
  static constexpr value_id seen_here(builder& b, value_id read) {
    bool is_shared = b.each_count == 0;
    for (int level = 0; level < b.depth; ++level) is_shared = is_shared && b.frames[level].shares_parameters;
    return is_shared ? b.use(read) : b.find_use(read);
  }
  static constexpr path_id moved(builder& b, path_id path, path_id from, path_id into) {
    return path == from ? into : b.add_path(moved(b, b.m.paths[path].parent, from, into), b.m.paths[path].label);
  }
  static constexpr variable_id copy_of(builder& b, variable const& like, path_id from, path_id into) {
    meshtensor::module& m = b.m;
    path_id const path = moved(b, like.path, from, into);
    for (int i = 0; i < m.variable_count; ++i) {
      if (m.variables[i].path != path) continue;
      if (m.variables[i].dims == like.dims && m.variables[i].type == like.type &&
          m.variables[i].trainable == like.trainable) {
        meshtensor::detail::require_same_start(b, m.variables[i], like.start, like.number);
        return static_cast<variable_id>(i);
      }
      diagnostic d{};
      add_type(add_path(d << "G03 '", m, path) << "' is declared twice, as ", m, m.variables[i].type,
               m.variables[i].dims);
      b.note(add_type(d << " and, as a copy, as ", m, like.type, like.dims) << ": give one of them another name");
    }
    b.make_room(m.variable_count, 1, max_variables, "G24", "parameters and states, those of the optimizer included");
    m.variables[m.variable_count] = like;
    m.variables[m.variable_count].path = path, m.variables[m.variable_count].site = b.site;
    return static_cast<variable_id>(m.variable_count++);
  }
};

}  // namespace nn

using nn::moving_average;

}  // namespace meshtensor
