// SPDX-License-Identifier: Apache-2.0
// The one model that replicas stand for: their mean.
#pragma once

#include <algorithm>

#include "meshtensor/regime/in_f64.hpp"
#include "meshtensor/regime/replicas.hpp"

namespace meshtensor {
namespace detail {

/// Declares variables as the replicas do, and shows a program their means.
struct view_of_means final : regime_hooks {
  value_id weights = no_id;  // by which the parameters of the replicas count, if they do not count alike
  bool reads_weights = false;
  value_id means[max_variables] = {};  // by variable, plus 1
  int end = 0;                         // of the variables that have been read

  constexpr view_of_means(dim_id along, replica_sharing const& of_policy) {
    variables_along = replicas = along, sharing = of_policy, shows_other_values = true;
  }
  constexpr value_id seen(builder& b, variable_id which, value_id v) override {
    if (reads_weights) return v;
    end = std::max(end, which + 1);
    if (means[which] == 0) means[which] = static_cast<value_id>(mean_of(b, which, v) + 1);
    return static_cast<value_id>(means[which] - 1);
  }
  constexpr variable_id variable_seen(value_id v) const override {
    for (int i = 0; i < end; ++i)
      if (means[i] == v + 1) return static_cast<variable_id>(i);
    return no_id;
  }

 private:
  constexpr value_id mean_of(builder& b, variable_id which, value_id v) const {
    shape dims{};
    dims.add(variables_along);
    if (!is_float(b.m.values[v].type)) return reduce(b, reduction::max, v, dims);
    if (weights == no_id || !b.m.variables[which].trainable) return mean_of_replicas(b, v, dims);
    value_id const all = reduce(b, reduction::sum, scaled(b, v, weights), dims);
    return divided(b, all, reduce(b, reduction::sum, weights, dims));
  }
};

template <class T>
concept is_training = requires {
  T::replica;
  typename T::policy_type;
};
template <class P>
concept has_precision = requires { typename P::with_precision; };

/// The error of a consensus of what is no training.
template <class>
inline constexpr type_finding arguments_of_consensus = wrong<
    "T56 consensus takes a program, then the replicas whose mean it sees: mt::consensus<show, train>, where "
    "train is an mt::replicas">;
/// The error of a consensus whose parameters have another dtype than those of the replicas. Replicas without a
/// precision may get one outside.
template <class Program, class Training>
inline constexpr type_finding parameters_of_consensus{};
template <has_precision Program, has_precision Training>
requires(Program::parameters != Training::parameters)
inline constexpr type_finding parameters_of_consensus<Program, Training> = [] {
  diagnostic d{};
  d << "T57 the program of a consensus has parameters of " << text_of(Program::parameters)
    << ", but those of the replicas are " << text_of(Training::parameters)
    << ": write mt::consensus<show, train> with a program without a precision, which gets that of the replicas";
  return type_finding{d};
}();

/// The consensus in the precision of its scope.
template <class Program, class Training>
struct consensus_in_scope {
  using program_inside = Program;

  constexpr void operator()(scope auto s) const {
    builder& b = s.graph_builder();
    using training = training_replica<decltype(s), std::remove_const_t<decltype(Training::replica)>>;
    auto const sharing = sharing_of<typename Training::policy_type, training>();
    view_of_means view(dim_of(b, Training::replica), sharing);
    b.regime = &view;
    if constexpr (requires { Training::policy_type::weight(s); }) {
      auto const regime = s / "regime";
      auto const here = regime.enter();
      view.reads_weights = true;
      view.weights = Training::policy_type::weight(regime).id;
      view.reads_weights = false;
    }
    Program{}(s);
    b.regime = nullptr;
  }
};
/// The program after an error. It has all outputs, so that no other error follows.
template <class Program>
struct no_consensus {
  constexpr void operator()(scope auto s) const {
    s.graph_builder().give_up();
    if constexpr (std::is_invocable_v<Program, decltype(s)>) Program{}(s);
  }
};

/// The consensus of a program that has no precision of its own has that of the training. If the parameters of the
/// training are f32, it computes in f32.
template <class Program, class Training>
struct consensus_of {
  using type = consensus_in_scope<Program, Training>;
};
template <class Program, is_training Training>
requires(!has_precision<Program> && has_precision<Training> && Training::parameters != dtype::f32)
struct consensus_of<Program, Training> {
  using type = precision<consensus_in_scope<Program, Training>, Training::parameters, Training::compute>;
};
template <has_precision Program, is_training Training>
struct consensus_of<Program, Training> {
  static_assert(is_valid<parameters_of_consensus<Program, Training>>);
  using type =
      precision<consensus_in_scope<typename Program::with_precision, Training>, Program::parameters, Program::compute>;
};
template <class Program, class Training>
requires(!is_training<Training>)
struct consensus_of<Program, Training> {
  static_assert(is_valid<arguments_of_consensus<Training>>);
  using type = no_consensus<std::conditional_t<is_training<Program>, Training, Program>>;
};

}  // namespace detail

/// A program that sees the mean of all replicas of `Training`: `struct evaluate_mean : mt::consensus<evaluate, train>
/// {};`, where `train` is a `replicas`. Use it to evaluate, to export or to save one model. `Program` declares its
/// parameters and states without the replicas' dim, and reads their means. If the policy keeps weights, as stochastic
/// gradient push does, the mean of a parameter is weighted by them. States of integers and bools are the largest of all
/// replicas. Inputs and outputs are those of `Program`.
///
/// The program gets the precision of the replicas if their parameters are not f32. If it has one of its own, the dtype
/// of the parameters must be the same: `mt::consensus<mt::precision<evaluate, mt::f64, mt::f32>, train>`.
///
/// layout  an all_reduce of each variable that the program reads, if the replicas are sharded
/// errors  G08 an update of a variable: a mean of replicas cannot be updated; T56 the arguments stand in another order;
///         T57 the program has other parameters
template <class Program, class Training>
struct consensus : detail::consensus_of<Program, Training>::type {};

}  // namespace meshtensor
