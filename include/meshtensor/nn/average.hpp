// SPDX-License-Identifier: Apache-2.0
// Exponential moving average (EMA) of parameters: a copy of a network that follows it slowly.
#pragma once

#include "meshtensor/nn/optimizer.hpp"

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
    builder& b = copy.recorder();
    meshtensor::module& m = b.m;
    auto const here = copy.enter();
    meshtensor::detail::composed const at_line(&b, where, "moving_average");
    number const share = detail::own_row(copy, decay);
    int const end = m.node_count;
    bool followed = false;
    for (int i = 0; i < end; ++i) {
      node const& n = m.nodes[i];
      if (n.kind != primitive::read || n.region != b.region) continue;
      variable_id const from = variable_of(n);
      variable const v = m.variables[from];
      if (!(v.trainable || states) || v.type != T) continue;
      if (!is_under(m, v.path, original.path()) || is_under(m, v.path, copy.path())) continue;
      followed = true;
      value_id const seen = b.find_use(m.result(n));
      if (seen == no_id) continue;  // the body of an each does not use it
      any_tensor<T> const next(&b, next_of(b, from, seen));
      any_tensor<T> const mean(&b, meshtensor::detail::read(b, copy_of(b, v, original.path(), copy.path())));
      path_id const path = m.variables[meshtensor::detail::variable_read(b, mean.id)].path;
      number const weight = detail::row(copy, share * minimum(copy.updates(path), 1));
      auto const kept = meshtensor::detail::as_tensor<T>(b, weight);
      auto const taken = meshtensor::detail::as_tensor<T>(b, 1 - weight);
      auto const old_part = mean * kept;
      copy.counted_update(mean, old_part + next * taken, path);
    }
    if (followed) return;
    diagnostic d{};
    meshtensor::add_scope(
        d << "G28 moving_average finds no parameter of dtype " << text_of(T) << " declared before it in ", m,
        original.path());
    b.note(d << ": call it after the layers, with the scope in which they are declared");
  }

 private:
  // The value of a variable after this step: the value written so far or, if there is none, the value before the step.
  static constexpr value_id next_of(builder& b, variable_id which, value_id before) {
    node_id const written = b.find_write(b.region, which);
    if (written == no_id) return before;
    value_id next = b.m.operand(b.m.nodes[written], 0);
    for (int e = 0; e < b.each_count; ++e) next = b.slice(e, next);
    return next;
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
