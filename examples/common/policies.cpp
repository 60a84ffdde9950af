// SPDX-License-Identifier: Apache-2.0
// passes: start-up
// All policies and topologies that a command line can name.
#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include <meshtensor/regime/regime.hpp>

#include "regimes.hpp"

namespace examples {

namespace {

thread_local regime_options const* chosen = nullptr;

template <class F>
auto with_topology(std::string const& name, F const& f) {
  if (name == "one_peer_exponential") return f(mt::one_peer_exponential{});
  if (name == "bipartite_exponential") return f(mt::bipartite_exponential{});
  if (name == "ring") return f(mt::ring{});
  if (name == "directed_ring") return f(mt::directed_ring{});
  if (name == "torus") return f(mt::torus{});
  if (name == "base_graph_1") return f(mt::base_graph<1>{});
  if (name == "base_graph_2") return f(mt::base_graph<2>{});
  if (name == "random_matching") return f(mt::random_matching<1>{});
  if (name == "random_out_degrees") return f(mt::random_out_degrees<1>{});
  throw std::logic_error("the topology " + name + " is in topology_names, but not here");
}
/// A policy whose period is an option.
template <class Policy>
Policy of_period(std::int64_t steps) {
  Policy policy;
  policy.period = static_cast<int>(steps);
  return policy;
}

/// The messages that a worker sends in a round, on average over a period or over the first 64 rounds.
template <mt::topology T>
double messages(int n) {
  int const rounds = T::period(n) != 0 ? T::period(n) : 64;
  std::int64_t count = 0;
  for (int round = 0; round < rounds; ++round)
    for (int worker = 0; worker < n; ++worker)
      for (int slot = 0; slot < T::slots(n); ++slot) {
        int const source = T::incoming(n, round, worker, slot).source;
        count += source >= 0 && source != worker ? 1 : 0;
      }
  return static_cast<double>(count) / rounds / n;
}

}  // namespace

chosen_regime::chosen_regime(regime_options const& o) { chosen = &o; }
chosen_regime::~chosen_regime() { chosen = nullptr; }

void after_step(traced_replica const& r) {
  if (chosen == nullptr) throw std::logic_error("a chosen policy is traced, but no chosen_regime is alive");
  std::string const& policy = chosen->regime;
  auto const change = [&](auto const& how) { how.after_update(r); };
  if (policy == "stochastic_gradient_push")
    with_topology(chosen->topology, [&]<class T>(T) { change(mt::stochastic_gradient_push<T>{}); });
  else if (policy == "overlapped_gradient_push")
    with_topology(chosen->topology, [&]<class T>(T) { change(mt::overlapped_gradient_push<T>{}); });
  else if (policy == "decentralized_sgd")
    with_topology(chosen->topology, [&]<class T>(T) { change(mt::decentralized_sgd<T>{}); });
  else if (policy == "local_sgd") change(of_period<mt::local_sgd<1>>(chosen->period));
  else if (policy == "slow_momentum") change(of_period<mt::slow_momentum<1>>(chosen->period));
  else if (policy == "diloco") change(of_period<mt::diloco<1>>(chosen->period));
  else if (policy == "federated_averaging") {
    auto how = of_period<mt::federated_averaging<1, 1>>(chosen->period);
    how.clients = static_cast<int>(chosen->clients);
    change(how);
  } else throw std::logic_error("the policy " + policy + " is in policy_rows, but not here");
}

double bytes_sent(regime_options const& o, double parameters) {
  int const n = static_cast<int>(o.replicas);
  if (!o.topology.empty()) {
    double const weight = o.pushes() ? sizeof(float) : 0;
    return with_topology(o.topology, [&]<class T>(T) { return messages<T>(n) * (parameters + weight); });
  }
  double const examples = o.policy().draws_clients ? sizeof(double) : 0;  // of a client, gathered and summed
  double const all_reduce = 2 * (parameters + examples) * (n - 1) / n + examples * (n - 1);
  return o.period == 0 ? all_reduce : all_reduce / static_cast<double>(o.period);
}

void take_for_replicas(mt::store& replicas, std::string const& name, mt::store& one) {
  auto const found = replicas.values().find(name);
  if (found == replicas.values().end()) return;
  mt::stored const& all = found->second;
  std::size_t outer = 1, count = 1, inner = mt::bytes_of(all.type);  // dims of loops come before that of replicas
  bool is_behind = false;
  for (mt::dim_extent const& d : all.dims) {
    auto const extent = static_cast<std::size_t>(d.extent);
    if (d.label == replica.dim_name) count = extent, is_behind = true;
    else (is_behind ? inner : outer) *= extent;
  }
  std::vector<std::byte> value(outer * inner), spread(outer * count * inner);
  one.copy_out(name, value.data());
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t r = 0; r < count; ++r)
      std::copy_n(value.begin() + static_cast<std::ptrdiff_t>(o * inner), inner,
                  spread.begin() + static_cast<std::ptrdiff_t>((o * count + r) * inner));
  replicas.copy_in(name, spread.data());
}

}  // namespace examples
