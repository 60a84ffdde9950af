// SPDX-License-Identifier: Apache-2.0
// Trains replicas of a model that need not be equal, by an unchanged program and a policy.
#pragma once

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/regime/policy.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor {
namespace detail {

/// Replaces the gradients of an optimizer by the gradients that a policy makes of all replicas' gradients.
template <class Policy, scope S, dim_type D>
struct policy_gradients final : regime_hooks {
  Policy const& policy;
  S const& whole;
  D along;
  bool covered[max_variables] = {};  // by parameter: its optimizer uses such gradients

  constexpr policy_gradients(Policy const& p, S const& s, D d) : policy(p), whole(s), along(d) {
    replicas = dim_of(s.graph_builder(), d);
    sharing = sharing_of<Policy, training_replica<S, D>>();
  }
  constexpr value_id exchanged(builder& b, value_id parameter, value_id gradient) override {
    constexpr dtype T = parameters_of<S>::value;
    if constexpr (exchanges_gradients<Policy, training_replica<S, D>>) {
      training_replica<S, D> const one(whole, along);
      gradient = exchanged_gradient(policy, one, any_tensor<T>(&b, gradient), any_tensor<T>(&b, parameter)).id;
      if (variable_id const which = variable_read(b, parameter); which != no_id) covered[which] = true;
    }
    return gradient;
  }
  constexpr void normalizes_alone(builder& b, value_id average) override {
    if constexpr (exchanges_gradients<Policy, training_replica<S, D>>)
      if (variable_id const which = variable_read(b, average); which != no_id) b.m.variables[which].alone = true;
  }
  /// Reports G50 if a parameter is updated without such a gradient, so that the replicas would not stay equal.
  constexpr void require_covered(builder& b) const {
    for (int i = 0; i < b.m.node_count; ++i) {
      node const& n = b.m.nodes[i];
      if (n.kind != primitive::write || n.region != b.region || !b.m.variables[variable_of(n)].trainable) continue;
      if (covered[variable_of(n)]) continue;
      b.site = n.site;
      diagnostic d{};
      b.note(add_path(d << "G50 '", b.m, b.m.variables[variable_of(n)].path)
             << "' is updated without an optimizer, so its replicas would differ, although the policy keeps replicas "
                "equal: update it by minimize, or average its next value by mean(mt::across(x, replica), replica) and "
                "make it a state");
    }
  }
};

template <class P, class D>
concept is_policy = exchanges_gradients<P, training_replica<trace_scope<>, D>> ||
                    changes_updates<P, training_replica<trace_scope<>, D>>;
/// The error of arguments of `replicas` that stand in another order.
template <class Program, class D, class Policy>
inline constexpr type_finding arguments_of_replicas = [] {
  constexpr bool in_order = [] {
    if constexpr (!dim_type<D>) return false;
    else return !is_policy<Program, D> && !std::is_invocable_v<Policy, trace_scope<>>;
  }();
  if constexpr (in_order) return type_finding{};
  else
    return wrong<
        "T56 replicas takes the training step of one replica, then the dim of the replicas, then the policy: "
        "mt::replicas<train_step, replica, policy>">;
}();

/// The states of a policy are those of replicas, and nothing else is changed.
struct policy_states final : regime_hooks {
  constexpr policy_states(dim_id along, replica_sharing const& of_policy) { replicas = along, sharing = of_policy; }
};

}  // namespace detail

/// Trains one replica of a model for each index of the dim `Replica`. `Program` is the training step of one replica,
/// which knows nothing of the others, and `Policy` is how the replicas meet:
///
///     struct train : mt::replicas<train_step, replica, mt::stochastic_gradient_push<>> {};
///
/// All replicas start equal. Each has its own parameters, states, optimizer, inputs and random numbers, so the inputs
/// and outputs of `Program` get the dim in front. The batch of `Program` is that of one replica. Where an axis of the
/// mesh shards the dim, each of its ranks computes its own replicas, see `over_replicas`.
///
/// random  the numbers of a replica are its slice of numbers that have `Replica` in front
/// errors  T56 the arguments stand in another order; G42 the program has an each over the dim; G44 and T43 it uses the
///         dim; G49 of topologies; G50 it stands in a loop, or a parameter is updated without an optimizer although
///         the policy averages gradients
/// source  Buchlovsky et al., arXiv:1902.00465; Assran et al., arXiv:1811.10792
template <class Program, auto Replica, class Policy>
struct replicas {
  using program_inside = Program;
  using policy_type = Policy;
  static constexpr auto replica = Replica;
  static_assert(
      !detail::of_one_size<Program>,
      "meshtensor T38: replicas has one size: mt::sized<mt::replicas<train_step, replica, policy>, batch(16)>");

  static constexpr auto const& arguments =
      detail::arguments_of_replicas<Program, std::remove_const_t<decltype(Replica)>, Policy>;
  static_assert(is_valid<arguments>);

  constexpr void operator()(scope auto s) const {
    if constexpr (arguments.report.empty()) train(s);
    else s.graph_builder().give_up();
  }

 private:
  static constexpr void train(scope auto s) {
    each(
        s, Replica,
        [](scope auto m) {
          using S = decltype(m);
          using D = std::remove_const_t<decltype(Replica)>;
          Policy const policy{};
          builder& b = m.graph_builder();
          b.expect(b.depth == 0, "G50 replicas stands in a loop, branch or mt::steps: let it stand around them");
          detail::policy_gradients<Policy, S, D> hooks(policy, m, Replica);
          b.regime = &hooks;
          Program{}(m);
          b.regime = nullptr;
          if constexpr (detail::exchanges_gradients<Policy, training_replica<S, D>>) hooks.require_covered(b);
          training_replica<S, D> const one(m, Replica);
          auto const here = one.scope.enter();
          detail::policy_states marks(hooks.replicas, hooks.sharing);
          b.regime = &marks;
          detail::change_updates(policy, one);
          b.regime = nullptr;
        },
        start_equal);
  }
};
/// The same for a program of another precision.
template <class Program, auto Replica, class Policy>
requires requires { typename Program::with_precision; }
struct replicas<Program, Replica, Policy>
    : precision<replicas<typename Program::with_precision, Replica, Policy>, Program::parameters, Program::compute> {};

}  // namespace meshtensor
