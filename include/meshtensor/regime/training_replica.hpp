// SPDX-License-Identifier: Apache-2.0
// One replica at the end of its training step, as policies see it: the parameters that the step has updated, and the
// other replicas.
#pragma once

#include "meshtensor/nn/optimizer.hpp"
#include "meshtensor/op/cond.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/regime/flat_parameter.hpp"
#include "meshtensor/regime/hop.hpp"

namespace meshtensor {

/// A parameter that a training step updates: its value before the step, and the one that the step gives it.
template <dtype T>
struct updated_parameter {
  any_tensor<T> before, after;
};

/// A round of a topology, for the values of one replica.
template <topology T, dim_type D>
struct replica_hop {
  static constexpr int slots = topology_round<T, D>::slots;
  topology_round<T, D> round;
  D along;

  /// The sum of the share that the replica keeps and the shares that it receives.
  template <handle X>
  constexpr X operator()(X const& x) const {
    return own(round(across(x, along)), along);
  }
  /// The same for values of a parameter, of which `compressed` sends compressed changes.
  template <handle X>
  constexpr X operator()(X const& x, X const& /*parameter*/) const {
    return (*this)(x);
  }
};

namespace detail {
/// The keeper of the parameters at the start of a period, which in `by_step` may be a step of the other policy.
enum class start_keeper {
  policy,   // the policy itself, whenever it runs
  by_step,  // `by_step` has called `keep_start` of the policy in front of the branches
  nobody,   // the policy runs in a branch and has no such function
};
}  // namespace detail

/// One replica, as a policy sees it at the end of its training step.
template <scope S, dim_type D>
class training_replica {
 public:
  /// The dtype of the parameters.
  static constexpr dtype type = detail::parameters_of<S>::value;
  /// Whether messages are compressed, so that a policy keeps the values that all replicas know.
  static constexpr bool compresses = false;
  /// Whether all replicas have equal parameters when the policy begins, so that all know them.
  static constexpr bool starts_equal = true;
  /// Whether all replicas have equal parameters in the step that begins the first period.
  static constexpr bool first_period_starts_equal = true;
  /// Whether another policy changes the push-sum weights between the turns of this one.
  static constexpr bool weights_change = false;
  static constexpr detail::start_keeper starts_kept_by = detail::start_keeper::policy;
  /// The scope of the policy's own states and numbers.
  S const scope;

  constexpr training_replica(S const& whole, D along) : scope(whole / "regime"), along_(along) {
    builder& b = whole.graph_builder();
    for (int i = 0; i < b.m.node_count; ++i) {
      node const& n = b.m.nodes[i];
      if (n.kind != primitive::read || n.region != b.region || !detail::is_parameter(b.m, b.m.result(n), type))
        continue;
      value_id const seen = b.find_use(b.m.result(n));
      if (seen != no_id && b.find_write(b.region, variable_of(n)) != no_id) updated_.add(seen);
    }
  }

  /// The same replica in the scope of a branch.
  constexpr training_replica(S const& branch, training_replica const& other)
      : scope(branch), along_(other.along_), turns_(other.turns_), since_(other.since_), updated_(other.updated_) {}

  /// How many parameters the step has updated.
  constexpr int size() const { return updated_.count; }
  constexpr updated_parameter<type> operator[](int i) const {
    any_tensor<type> const before(&scope.graph_builder(), updated_.at[i]);
    return {before, scope.next(before)};
  }
  /// Replaces the value that the step has given to a parameter.
  constexpr void set(updated_parameter<type> const& p, any_tensor<type> const& next) const {
    scope.amend(p.before, next);
  }

  /// The number of this replica, from 0, as i64.
  constexpr tensor<dtype::i64> index() const { return meshtensor::index(scope, along_); }
  /// The number of replicas.
  constexpr number count() const { return extent(along_); }
  /// The number of training steps before this one. In `by_step`, only steps count in which it was this policy's turn.
  constexpr number round() const { return turns_ == no_id ? scope.step() : counted(turns_); }
  /// 0 in the first step with this `round`, and above 0 in the others, or if the policy has not begun or has ended.
  constexpr number steps_since_turn() const { return since_ == no_id ? number(0) : counted(since_); }
  /// Sets these two numbers.
  constexpr void count_turns(number const& turns, number const& since) {
    turns_ = scope.graph_builder().add_number(turns), since_ = scope.graph_builder().add_number(since);
  }
  /// The number as one row of the program's table, so that longer expressions can use it.
  constexpr number row(number const& n) const { return counted(scope.graph_builder().add_number(n)); }

  /// The mean of the values of all replicas.
  template <handle X>
  constexpr X mean(X const& x) const {
    builder& b = scope.graph_builder();
    return {&b, detail::mean_of_replicas(b, across(x, along_).id, shape{}.add(replica_dim()))};
  }
  /// The mean of changes of a parameter, for example of its gradients. `compressed` sends them compressed.
  template <handle X>
  constexpr X mean(X const& x, X const& /*parameter*/) const {
    return mean(x);
  }
  /// The mean of the values that the step has given to a parameter. `start` is a value that all replicas have, and
  /// `compressed` sends the differences from it.
  /// errors  G50 inside `compressed`, the policy begins with replicas that differ, so there is no such value
  template <class Start>
  constexpr any_tensor<type> mean_from(Start const& /*start*/, updated_parameter<type> const& p) const {
    return mean(p.after);
  }
  /// The values of all replicas along a dim of their own, in front of those of `x`. Every rank has all of them.
  template <handle X>
  constexpr any_tensor<X::type> gathered(X const& x) const {
    builder& b = scope.graph_builder();
    return gathered(x, b.dim_like(detail::dim_of(b, along_)));
  }
  /// The same along a dim that the policy declares, so that operations can name it. Its extent is the number of
  /// replicas: `mt::dim<"others", replica + 0>`.
  template <handle X, dim_type All>
  constexpr any_tensor<X::type> gathered(X const& x, All all) const {
    return rename(across(x, along_), along_, all);
  }
  /// The same along a dim that was made before, for several values.
  template <handle X>
  constexpr any_tensor<X::type> gathered(X const& x, dim_id all) const {
    builder& b = scope.graph_builder();
    return {&b, rename(b, across(x, along_).id, detail::dim_of(b, along_), all)};
  }
  /// The dim of the replicas.
  constexpr dim_id replica_dim() const { return detail::dim_of(scope.graph_builder(), along_); }
  /// Sends to each replica its part of `x`, where `owner` counts the parts. Returns the parts that came from all
  /// replicas, along `sender`. No rule of a layout shards these two dims, which have the extent of the replicas.
  template <handle X>
  constexpr any_tensor<X::type> sent_to_owners(X const& x, dim_id owner, dim_id sender) const {
    builder& b = scope.graph_builder();
    dim_id const along = replica_dim();
    // A rule for the replicas shards this dim too. So a rank keeps its parts until the other renaming, which makes an
    // all_to_all of them.
    dim_id const sharded_alike =
        detail::own_dim(b, {dim_row::windowed, no_id, along, no_id, window_places{-1, 1}.packed()}, "sharded_alike");
    value_id all = rename(b, across(x, along_).id, along, sharded_alike);
    shape const rest = b.m.values[all].dims;
    all = rename(b, transpose(b, all, united(shape{}.add(owner), rest)), owner, along);
    return {&b, rename(b, own(any_tensor<X::type>(&b, all), along_).id, sharded_alike, sender)};
  }
  /// One round of a topology among the replicas. It is made once in a step and used for any number of tensors.
  template <topology T>
  constexpr replica_hop<T, D> hop() const {
    return hop<T>(round());
  }
  /// The same for a round that the policy counts. If replicas exchange messages in every H-th step only, this is
  /// `r.periods(H)`. Otherwise some rounds of the topology may never occur.
  template <topology T>
  constexpr replica_hop<T, D> hop(number const& round) const {
    return {meshtensor::hop<T>(scope, along_, round), along_};
  }

  /// Whether the step ends a period of so many steps: a tensor, which is the same for all replicas.
  constexpr auto ends(int steps) const { return full(scope, (round() + 1) % period(steps), f64) == 0; }
  /// Whether the step begins a period of so many steps.
  constexpr auto begins(int steps) const { return full(scope, round() % period(steps), f64) == 0; }
  /// The number of periods of so many steps before this step.
  constexpr number periods(int steps) const { return floor(round() / period(steps)); }
  /// 0 in the step with which a period begins, and above 0 in others. The first period begins with the first step, and
  /// each of the others with the step after the end of the one before it. In `by_step` this may be a step of the other
  /// policy.
  constexpr number place_in_period(int steps) const {
    number const of_turns = round() % period(steps);
    return since_ == no_id ? of_turns : row(of_turns + steps_since_turn());
  }
  /// 0 in the step with which the first period begins, and above 0 in others.
  constexpr number place_in_training() const {
    return since_ == no_id ? round() : row(maximum(round(), 0) + steps_since_turn());
  }
  /// Does `what`, which takes the replica in the scope of a branch, if a tensor without dims is true.
  template <class P, class What>
  constexpr void when(P const& condition, What const& what) const {
    auto const nothing = [](meshtensor::scope auto b) { return full(b, 0, i64); };
    cond(
        scope, condition,
        [&](meshtensor::scope auto b) {
          what(training_replica(b, *this));
          return nothing(b);
        },
        nothing);
  }
  /// Does one of two things, each of which takes the replica in the scope of a branch.
  template <class P, class Then, class Otherwise>
  constexpr void either(P const& condition, Then const& then, Otherwise const& otherwise) const {
    auto const done = [&](auto const& what) {
      return [&](meshtensor::scope auto b) {
        what(training_replica(b, *this));
        return full(b, 0, i64);
      };
    };
    cond(scope, condition, done(then), done(otherwise));
  }
  /// The result of one of two functions.
  template <class P, class Then, class Otherwise>
  constexpr auto chosen(P const& condition, Then const& then, Otherwise const& otherwise) const {
    auto const given = [&](auto const& what) {
      return [&](meshtensor::scope auto b) { return what(training_replica(b, *this)); };
    };
    return cond(scope, condition, given(then), given(otherwise));
  }

 protected:
  D along_;

 private:
  constexpr number counted(number_id row) const { return number::of_row(&scope.graph_builder(), row); }
  constexpr int period(int steps) const {
    return scope.graph_builder().expect(steps > 0, "S23 a period of replicas has at least one step") ? steps : 1;
  }

  number_id turns_ = no_id, since_ = no_id;  // rows of the numbers above
  id_list<max_variables> updated_{};
};

}  // namespace meshtensor
