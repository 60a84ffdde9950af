// SPDX-License-Identifier: Apache-2.0
// Scopes, in which a program declares its parameters, inputs, state, numbers and outputs under nested names.
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>
#include <utility>

#include "meshtensor/graph/layer.hpp"
#include "meshtensor/graph/number_in_steps.hpp"
#include "meshtensor/graph/scope/declaration_finding.hpp"
#include "meshtensor/graph/scope/scope_variables.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor {

/// The scope for tracing. Parameters are stored with dtype `Parameters`, and the program reads them with dtype
/// `Compute`.
template <dtype Parameters = dtype::f32, dtype Compute = Parameters>
class trace_scope : public scope_variables {
 public:
  using is_scope = void;
  static constexpr dtype compute = Compute;
  /// The dtype of floats in this program's computations.
  static constexpr dtype_constant<Compute> real() { return {}; }

  constexpr trace_scope(builder* b, path_id path, line const& where) : scope_variables(b, path, where) {}

  /// The scope of a part, for example `block(s / "decoder", x)`. Nodes of the library's own layers report its line.
  constexpr trace_scope operator/(named_here const& part) const {
    return {b_, b_->add_path(path_, part.label), part.where};
  }

  /// A parameter, shared by all programs that are declared together, for example `s.parameter("bias", d_ff)`. The last
  /// argument may be an initializer. Inside `repeat` the parameter also has the loop's dim, so that each iteration gets
  /// its own slice.
  ///
  /// errors  G03 declared elsewhere with other dims or another initializer; G04 used outside the layer for which the
  /// scope was made
  template <class... Args>
  constexpr auto parameter(named<decltype(detail::declaration_finding<Args...>())> const& label, Args... args) const {
    return declare<Parameters, true, Compute>(label, std::tuple(args...),
                                              std::make_index_sequence<dim_count<Args...>>{});
  }

  /// Rejects a parameter without a name.
  template <class First, class... Args,
            class Reason = detail::refusal<
                "T19 a parameter is declared by its name first: s.parameter(\"weight\", in, out)", First, Args...>>
  requires(!std::convertible_to<First, char const*>)
  MESHTENSOR_REFUSES constexpr tensor<Compute> parameter(First, Args...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    b_->give_up();
    return {b_, value_id{}};
  }

  /// State that persists between steps: `s.state("mean", mt::f32, channels)`, replaced by `s.update(mean, next)`. It
  /// starts with zeros, or with the initializer after the dims. A `merge_rule` may stand behind them.
  template <dtype T, class... Args>
  constexpr auto state(named<decltype(detail::declaration_finding<Args...>())> const& label, dtype_constant<T>,
                       Args... args) const {
    return declare<T, false, Compute>(label, std::tuple(args...), std::make_index_sequence<dim_count<Args...>>{});
  }

  /// State with the dims of a parameter, named after it. Examples are the slots of an optimizer.
  /// errors  G08 not a parameter or state, for example the value that an optimizer has given to a parameter
  template <dtype T>
  constexpr any_tensor<T> state_like(name const& label, any_tensor<T> const& parameter, merge_rule rule = {},
                                     line const& where = {}) const {
    return state_like(label, parameter, like(parameter.id).dims, rule, where);
  }
  /// State with some of the dims of a parameter.
  template <dtype T>
  constexpr any_tensor<T> state_like(name const& label, any_tensor<T> const& parameter, shape const& dims,
                                     merge_rule rule = {}, line const& where = {}) const {
    require_variable(parameter.id, where);
    return {b_, declared(b_->add_path(path_for(parameter), label), T, own_dims(dims), zeros, false, rule)};
  }
  /// The path under which this scope keeps the state of a parameter and counts its updates.
  template <handle H>
  constexpr path_id path_for(H const& parameter) const {
    return joined(path_, like(parameter.id).path);
  }

  /// Replaces a parameter or state from the next step on. Every read in this step sees the value before it.
  ///
  /// In a loop, it replaces a state from the next iteration on, and every read in this iteration sees the value before
  /// it. If each iteration has a slice of the state, for example because it was declared in `repeat`, each slice gets
  /// its next value, and one write behind the loop stores them. Any other state is carried from iteration to iteration,
  /// and the last value is written.
  /// grad    no gradient flows from one iteration or step to the next through a state
  /// errors  T02 and T03: the next value has another dtype or other dims; G05 updated twice; G06 in a composite, or a
  ///         whole state of which a loop sees slices; G08 not a parameter or state
  template <handle H, handle V>
  constexpr void update(H const& variable, V const& next, line const& where = {}) const {
    update(variable, next, not_counted, where);
  }
  /// The same for an update that counts from the next step on.
  template <handle H, handle V>
  constexpr void update(H const& variable, V const& next, counted_update const& how, line const& where = {}) const {
    if constexpr (!same_dtype_as<H, V>)
      static_assert(
          is_valid<detail::wrong<"T02 update: the next value has another dtype than the variable: cast it", V, H>>);
    replace(variable.id, next.id, how, false, where);
  }

  /// The value that a parameter or state will have after the updates so far: the one that the last `update` or `amend`
  /// gave it, else its value before.
  template <handle H>
  constexpr H next(H const& variable) const {
    value_id const v = next_value(variable.id);
    return v == no_id ? variable : H(b_, v);
  }
  /// As `update`, but it may replace an earlier update of the same variable. For example, `s.amend(w, s.next(w) * 0.9)`
  /// shrinks the result of an optimizer. The earlier update stands in the same body, or before the `cond` of a branch,
  /// where it holds if the branch does not run. The count of updates stays.
  ///
  /// errors  as of `update`; G05 the update that it replaces is in another loop or branch
  template <handle H, handle V>
  constexpr void amend(H const& variable, V const& next, line const& where = {}) const {
    if constexpr (!same_dtype_as<H, V>)
      static_assert(
          is_valid<detail::wrong<"T02 amend: the next value has another dtype than the variable: cast it", V, H>>);
    replace(variable.id, next.id, not_counted, true, where);
  }

  /// An input of the step, for example `s.input("text", mt::i32, batch, length)`.
  template <dtype T, dim_type... D>
  constexpr tensor<T, D...> input(named_here const& label, dtype_constant<T>, D...) const {
    at_line(label.where);
    if (!detail::is_in_steps_alone(*b_)) {
      diagnostic d{};
      b_->note(d << "G07 the input '" << label.label << "' is declared inside a loop or branch: declare it before");
    }
    shape dims = dims_of_steps_and_eaches();
    (dims.add(b_->dim(D::dim_name, D::dim_rule)), ...);
    name_id const row = named_once(primitive::input, label.label);
    return {b_, detail::in_entry(*b_, primitive::input, T, dims, input_attributes{row}.packed())};
  }

  template <dim_type First, class... Args>
  constexpr tensor<Compute, First> input(
      named<detail::refusal<"T24 an input is declared with its dtype: s.input(\"x\", mt::f32, batch, in)", First,
                            Args...>> const&,
      First, Args...) const {
    b_->give_up();
    return {b_, value_id{}};
  }

  /// An output of the step, by name.
  template <handle H>
  constexpr void output(named_here const& label, H const& x) const {
    at_line(label.where);
    if (!detail::is_in_steps_alone(*b_)) {
      diagnostic d{};
      b_->note(d << "G07 the output '" << label.label
                 << "' is declared inside a loop or branch: return the tensor from there and declare it outside");
    }
    if (b_->depth != 0) {
      b_->output_names.add(b_->intern(label.label)), b_->output_values.add(b_->use(of_all_indices(x.id)));
      return;
    }
    name_id const row = named_once(primitive::output, label.label);
    effect(primitive::output, of_all_indices(x.id), output_attributes{row, false}.packed());
  }

  /// A number as an output, in f64. An example is a learning rate that follows a schedule.
  ///
  /// errors  T02 it is an integer that f64 cannot represent
  constexpr void output(named_here const& label, meshtensor::number const& n) const {
    at_line(label.where);
    detail::require_output(*b_, n);
    output(label, tensor<f64>(b_, detail::number_for_output(*b_, n)));
  }
  /// Rejects an output without a name.
  template <handle H, class... Args,
            class Reason = detail::refusal<"T19 an output is declared by its name first: s.output(\"y\", y)", H>>
  MESHTENSOR_REFUSES constexpr void output(H const&, Args const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    b_->give_up();
  }
  constexpr void output(named_here const&, detail::no_result) const { b_->give_up(); }
  /// Rejects an output that is neither a tensor nor a number.
  template <class N>
  requires(!handle<N> && !std::convertible_to<N const&, meshtensor::number> && !std::is_same_v<N, detail::no_result>)
  constexpr void output(named<detail::refusal<"T22 an output is a tensor or a number, one for each name", N>> const&,
                        N const&) const {
    b_->give_up();
  }

  /// Makes a tensor visible from outside, even from inside a loop. Each step returns it under its path and this name,
  /// for example `layers/hidden`. From a loop it returns all iterations, stacked along the loop's dim, with zeros for
  /// the iterations that a `while_loop` does not run. `step.watched("layers/hidden")` is the whole tensor for every
  /// layout, and `mt::print(job, "{}", mt::watched(step))` summarizes its numbers. A watch costs the memory of an
  /// output. In an eager scope, `get` returns the tensor.
  ///
  /// errors  G03 the name is taken; G33 in `cond` or a composite, or in a loop over a dim of its own
  template <handle H>
  constexpr void watch(named_here const& label, H const& x) const {
    watched(label, x.id, false);
  }
  /// Watches the gradient of a tensor: the derivative of the loss by it, as `gradient` and `minimize` compute it. If no
  /// gradient passes through the tensor, nothing is returned.
  template <handle H>
  constexpr void watch_gradient(named_here const& label, H const& x) const {
    watched(label, x.id, true);
  }

  /// A number that is set by name at start or before a step, for example `s.number("learning_rate", 1e-3)`.
  ///
  /// errors  G03 declared elsewhere with another value
  constexpr meshtensor::number number(named_here const& label, number_value const& unless_set) const {
    site_id const here = b_->site;
    at_line(label.where);
    number_id const row = b_->add_named_number(label.label, unless_set);
    b_->site = here;
    return meshtensor::number::of_row(b_, row);
  }
  /// Rejects a call without the name first, or without a value.
  template <
      class A, class... B,
      class Reason = detail::refusal<"T19 a number is declared by its name first, then the value that it has until "
                                     "it is set: s.number(\"rate\", 0.1)",
                                     A>>
  requires(std::is_arithmetic_v<A>)
  MESHTENSOR_REFUSES constexpr meshtensor::number number(A, B const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return step();
  }
  template <class... None>
  requires(sizeof...(None) == 0)
  constexpr meshtensor::number number(named<detail::refusal<"T21 a number is declared with the value that it has until "
                                                            "it is set: s.number(\"rate\", 0.1)",
                                                            None...>> const&,
                                      None const&...) const {
    return step();
  }
  /// The number of steps of this program that are complete.
  constexpr meshtensor::number step() const { return counted(number_row::step, no_id); }
  /// The number of updates counted under a path.
  constexpr meshtensor::number updates(path_id path) const { return counted(number_row::updates, path); }
  /// The most updates of a parameter by the optimizer with this scope, of those that the program updates.
  constexpr meshtensor::number most_updates(path_id path) const { return counted(number_row::most_updates, path); }
  /// The number of steps of this program. In a number that an optimizer takes up, it is the number of the optimizer's
  /// updates.
  constexpr meshtensor::number scheduled_step() const { return counted(number_row::schedule, no_id); }
};

}  // namespace meshtensor
