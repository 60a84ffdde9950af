// SPDX-License-Identifier: Apache-2.0
// Traces programs at run time as replicas of a policy that a command line names. Only the trace of the model is
// compiled for each example, because policies.cpp has all policies and topologies.
#pragma once

#include <memory>
#include <string>
#include <type_traits>

#include <meshtensor/regime/consensus.hpp>
#include <meshtensor/regime/over_replicas.hpp>
#include <meshtensor/regime/replicas.hpp>
#include <meshtensor/regime/stochastic_gradient_push.hpp>
#include <meshtensor/regime/synchronous.hpp>
#include <meshtensor/run/store.hpp>

#include "regime_options.hpp"

namespace examples {

namespace mt = meshtensor;

inline constexpr struct replica : mt::dim<"replica"> {} replica;

/// A replica at the end of a step whose parameters are f32.
using traced_replica = mt::training_replica<mt::trace_scope<>, std::remove_const_t<decltype(replica)>>;

/// Lets the policy of the options of the trace in progress change the updates of a step.
void after_step(traced_replica const& r);

/// The policies that a command line names. A policy is made by its default constructor, so the options are those that
/// `chosen_regime` holds.
struct chosen_exchange {
  void after_update(traced_replica const& r) const { after_step(r); }
};
/// The same for policies with push-sum weights, which the consensus must know.
struct chosen_push : mt::stochastic_gradient_push<> {
  void after_update(traced_replica const& r) const { after_step(r); }
};

/// Chooses the policy of the traces on this thread, as long as the object lives.
class chosen_regime {
 public:
  explicit chosen_regime(regime_options const& o);
  chosen_regime(chosen_regime const&) = delete;
  chosen_regime& operator=(chosen_regime const&) = delete;
  ~chosen_regime();
};

/// The bytes that a replica sends in a step, on average, if it has so many bytes of parameters and each replica has a
/// rank of its own.
double bytes_sent(regime_options const& o, double parameters);

/// A program traced at run time, with the name of its entry, and the name under which its steps are counted.
struct traced_program {
  std::unique_ptr<mt::module> graph;
  mt::name entry;
  std::string counted;

  template <class Program>
  static traced_program of() {
    return {std::unique_ptr<mt::module>(new mt::module(mt::trace<Program>())), mt::entry_name<Program>(),
            mt::counted_name<Program>()};
  }
};

/// `Program` for each replica, under the policy of the options.
template <class Program>
traced_program traced_replicas(regime_options const& o) {
  chosen_regime const here(o);
  if (o.regime == "synchronous") return traced_program::of<mt::replicas<Program, replica, mt::synchronous>>();
  if (o.pushes()) return traced_program::of<mt::replicas<Program, replica, chosen_push>>();
  return traced_program::of<mt::replicas<Program, replica, chosen_exchange>>();
}
/// `Program` for each replica, which exchange nothing.
template <class Program>
traced_program traced_apart() {
  struct nothing {};
  return traced_program::of<mt::replicas<Program, replica, nothing>>();
}
/// `Program`, which sees the mean of the replicas of `Training`.
template <class Program, class Training>
traced_program traced_consensus(regime_options const& o) {
  if (o.pushes()) return traced_program::of<mt::consensus<Program, mt::replicas<Training, replica, chosen_push>>>();
  return traced_program::of<mt::consensus<Program, mt::replicas<Training, replica, chosen_exchange>>>();
}

/// Gives all replicas the value of one model, in place of the value of this name. If the replicas lack it, nothing
/// changes.
void take_for_replicas(mt::store& replicas, std::string const& name, mt::store& one);

/// The layout of a program that sees the consensus: `Layout`, with the replicas of parameters sharded over an axis. No
/// tensor has both the replicas and the batch, so the axis shards the batch, too.
template <mt::layout_type Layout, auto Axis>
struct layout_of_consensus {
  static constexpr mt::layout_rules sharding_rules = [] {
    mt::layout_rules r = Layout::sharding_rules;
    mt::shard<replica, Axis>::add_to(r, mt::name{});
    return r;
  }();
};

}  // namespace examples
