// SPDX-License-Identifier: Apache-2.0
// The common part of optimizers: they replace every parameter by its next value. Every hyperparameter is a number.
#pragma once

#include <utility>

#include "meshtensor/nn/own_number.hpp"
#include "meshtensor/nn/scaled_squares.hpp"
#include "meshtensor/nn/schedule.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor {
namespace nn {

/// The parameters that an optimizer decays: all parameters, or those with at least two dims (`matrices`). Dims of
/// enclosing loops do not count, so `matrices` leaves out biases and gains.
enum class decayed : std::uint8_t { all, matrices };

namespace detail {

/// A divisor, with 1 in place of 0. It may be 0 only if a number that a user gives is 0.
template <handle X>
constexpr X as_divisor(X const& x, bool may_be_zero) {
  return may_be_zero ? X(select(x == 0, 1, x)) : x;
}

/// √Σ g² over all gradients. In f64 no square of a narrower float overflows or vanishes. Squares of f64 may do so, and
/// are added as `scaled_squares.hpp` says. The norm of no gradients is 0.
template <dtype T>
constexpr tensor<dtype::f64> norm_in_f64(gradients<T> const& g) {
  builder& b = *g.owner;
  if (g.size() == 0) return {&b, constant(b, 0, dtype::f64)};
  value_id usual = no_id, lowered = no_id;
  auto const add_up = [&](value_id& all, value_id term) { all = all == no_id ? term : add(b, all, term); };
  for (int i = 0; i < g.size(); ++i) {
    if constexpr (T == dtype::f64) {
      auto const q = squares_within(g[i].gradient, [](any_tensor<T> const& y) { return sum(y); });
      add_up(usual, q.usual.id), add_up(lowered, q.lowered.id);
    } else {
      auto const wide = cast<dtype::f64>(g[i].gradient);
      add_up(usual, sum(wide * wide).id);
    }
  }
  using total = tensor<dtype::f64>;
  if constexpr (T == dtype::f64) return root_of(squares_of{total(&b, usual), total(&b, lowered)});
  else return sqrt(total(&b, usual));
}

/// min(1, limit / √Σ g²) over all gradients: the factor that clips their global norm to `limit`.
template <dtype T, scope S>
constexpr tensor<T> clipping(S const& s, gradients<T> const& g, number const& limit, bool may_be_zero) {
  auto const most = own_tensor<dtype::f64>(s, limit);
  return cast<T>(most / as_divisor(maximum(norm_in_f64(g), most), may_be_zero));
}

/// Stands for a loss that was not given.
struct no_loss {};

/// Stands for a scope that was not given, so that all parameters change.
struct all_parameters {
  constexpr path_id path() const { return no_id; }
};

/// Requires that a given gradient has the dims of its parameter.
template <dtype T>
constexpr void require_dims_of_parameter(builder& b, parameter_gradient<T> const& given) {
  meshtensor::module const& m = b.m;
  value const &p = m.values[given.parameter.id], &g = m.values[given.gradient.id];
  if (g.dims.includes(p.dims) && p.dims.includes(g.dims)) return;
  diagnostic d{};
  variable const& v = m.variables[meshtensor::detail::variable_read(b, given.parameter.id)];
  add_type(add_path(d << "T03 minimize: the gradient by '", m, v.path) << "' is ", m, g.type, g.dims);
  b.note(add_type(d << ", and the parameter ", m, p.type, p.dims)
         << (g.dims.includes(p.dims)
                 ? ": take the sum or mean of the gradient over the dims that the parameter lacks"
                 : ": keep the dims of the parameter, so that each of its elements has a gradient"));
}
/// The gradients by the parameters under a path. They are those of a loss, or chosen from given gradients.
template <dtype T, class What>
constexpr gradients<T> gradients_of(builder& b, What const& what, path_id root) {
  gradients<T> g{&b, {}, {}};
  b.expect(what.owner == &b, "G18 a tensor of one program is used in another");
  if constexpr (handle<What>) {
    g = meshtensor::detail::gradients_under<T>(b, what.id, root);
  } else {
    for (int i = 0; i < what.size(); ++i)
      if (meshtensor::detail::sees_parameter(b, what.parameters.at[i], T, root))
        require_dims_of_parameter(b, what[i]), g.parameters.add(what.parameters.at[i]), g.values.add(what.values.at[i]);
  }
  if (g.size() != 0) return g;
  diagnostic d{};
  add_scope(d << "G28 minimize finds no parameter of dtype " << text_of(T) << " declared before it in ", b.m, root);
  b.note(d << ": call it after the layers, with a loss of their outputs");
  return g;
}

template <class What, dtype T>
constexpr bool can_be_minimized() {
  if constexpr (handle<What>) {
    if constexpr (!of_float<What>)
      static_assert(is_valid<meshtensor::detail::wrong<"T04 minimize: the loss is not a float", What>>);
    if constexpr (!(meshtensor::detail::may_be_scalar<What>))
      static_assert(
          is_valid<meshtensor::detail::wrong<"T03 minimize: the loss has dims: take its sum or mean first", What>>);
    return of_float<What> && meshtensor::detail::may_be_scalar<What>;
  } else {
    static_assert(std::is_same_v<What, gradients<T>>,
                  "meshtensor T11: minimize takes a loss, or gradients by the program's parameters");
    return std::is_same_v<What, gradients<T>>;
  }
}

/// The dims of a parameter. `outer` has those of enclosing loops, whose iterations are separate parameters, and `own`
/// the others.
struct parameter_dims {
  shape outer{}, own{};
  constexpr parameter_dims(builder const& b, value_id p) {
    variable const& v = b.m.variables[meshtensor::detail::variable_read(b, p)];
    for (int i = 0; i < v.dims.count; ++i)
      if (b.m.values[p].dims.has(v.dims.at[i])) (i < v.own ? outer : own).add(v.dims.at[i]);
  }
};

/// The number of the update that an optimizer is about to make to a parameter. The first has the number 1.
template <scope S, dtype T>
constexpr number this_update(S const& s, any_tensor<T> const& p) {
  return row(s, s.updates(s.path_for(p)) + 1);
}

/// Takes the gradients, clips them if there is a limit, and updates each parameter once.
template <dtype T, class How, scope S, class What, class P>
constexpr void update(How const& how, S const& s, What const& what, P const& parameters, line const& where) {
  if constexpr (!requires { parameters.path(); }) {
    static_assert(
        is_valid<meshtensor::detail::wrong<
            "T11 minimize: the third argument is the scope of the parameters to change, s / \"network\"", P>>);
  } else if constexpr (can_be_minimized<What, T>()) {
    builder& b = s.graph_builder();
    auto const here = s.enter();
    meshtensor::detail::composed const at_line(&b, where, How::label);
    meshtensor::phase const before = std::exchange(b.phase, meshtensor::phase::update);
    gradients<T> g = gradients_of<T>(b, what, parameters.path());
    for (int i = 0; b.regime != nullptr && i < g.size(); ++i)
      g.values.at[i] = b.regime->exchanged(b, g.parameters.at[i], g.values.at[i]);
    bool const clips = how.clip_norm.count != 0;
    value_id const factor = clips ? clipping(s, g, own_row(s, how.clip_norm), may_be(how.clip_norm, 0)).id : no_id;
    auto const step = how.template prepare<T>(s);
    bool const counts = meshtensor::detail::is_in_steps_alone(b);
    number_id const steps = meshtensor::detail::steps_of_call(b);
    for (int i = 0; i < g.size(); ++i) {
      auto const [p, dp] = g[i];
      any_tensor<T> const clipped = clips ? any_tensor<T>(dp * tensor<T>(&b, factor)) : dp;
      s.update(p, step(s, p, clipped), counted_update{s.path_for(p), s.path(), steps, !counts});
    }
    if (!counts) {
      auto const done = updates_in_region(s);
      s.amend(done, done + 1);  // because another minimize under this scope may have counted the update
    }
    b.phase = before;
  }
}

/// The common part of all optimizers.
template <class How, class S, class What, class P>
constexpr void minimize(How const& how, S const& s, What const& what, P const& parameters, line const& where) {
  if constexpr (!scope<S> || std::is_same_v<What, no_loss>) {
    using meshtensor::detail::code_if;
    using meshtensor::detail::with_code;
    static_assert(
        is_valid<meshtensor::detail::wrong<with_code<code_if<scope<S>, "T37", "T17">,
                                                     "minimize takes a scope for the optimizer's state, then the "
                                                     "loss: minimize(s / \"optimizer\", loss)">,
                                           S>>);
  } else {
    update<meshtensor::detail::parameters_of<S>::value>(how, s, what, parameters, where);
  }
}

}  // namespace detail

/// The common norm of all gradients, √Σ g². No square overflows or vanishes on the way. For example, `1 / maximum(1,
/// mt::global_norm(g) / limit)` is the factor that clips them to `limit`. The norm of no gradients is 0.
///
/// dims    none
template <dtype T>
constexpr tensor<T> global_norm(gradients<T> const& g, line const& where = {}) {
  meshtensor::detail::composed const at_line(g.owner, where, "global_norm");
  return cast<T>(detail::norm_in_f64(g));
}

}  // namespace nn

using nn::global_norm;

}  // namespace meshtensor
