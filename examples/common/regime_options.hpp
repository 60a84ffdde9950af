// SPDX-License-Identifier: Apache-2.0
// Holds the options of replicas that differ, and checks that they are consistent.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

/// A policy by its name, and the options that it takes.
struct policy_row {
  char const* name;
  char const* topology;  // the topology if none is named, or null if the policy has none
  bool has_period;
  bool draws_clients = false;
};
inline constexpr policy_row policy_rows[] = {{"synchronous", nullptr, false},
                                             {"stochastic_gradient_push", "one_peer_exponential", false},
                                             {"overlapped_gradient_push", "one_peer_exponential", false},
                                             {"decentralized_sgd", "ring", false},
                                             {"local_sgd", nullptr, true},
                                             {"slow_momentum", nullptr, true},
                                             {"diloco", nullptr, true},
                                             {"federated_averaging", nullptr, true, true}};
inline std::vector<std::string> policy_names() {
  std::vector<std::string> all;
  for (policy_row const& row : policy_rows) all.push_back(row.name);
  return all;
}
/// The topologies whose number of messages does not depend on the number of replicas, because that is given at start.
inline std::vector<std::string> topology_names() {
  return {
      "one_peer_exponential", "bipartite_exponential", "ring", "directed_ring", "torus", "base_graph_1", "base_graph_2",
      "random_matching",      "random_out_degrees"};
}

/// A network by its name: what a message of any size takes, and the bytes that a link carries in a second.
struct network_row {
  char const* name;
  double latency, bytes_per_second;
};
inline constexpr network_row network_rows[] = {
    {"1gbit", 100e-6, 0.125e9}, {"10gbit", 50e-6, 1.25e9}, {"25gbit", 30e-6, 3.125e9}, {"100gbit", 5e-6, 12.5e9}};
inline std::vector<std::string> network_names() {
  std::vector<std::string> all;
  for (network_row const& row : network_rows) all.push_back(row.name);
  return all;
}
/// The probability that a text such as `1%` says, or -1 for any other text.
inline double probability_of(std::string_view text) {
  double percent = 0;
  auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), percent);
  bool const good = problem == std::errc{} && std::string_view(end, text.data() + text.size()) == "%";
  return good && percent >= 0 && percent <= 100 ? percent / 100 : -1;
}

/// The options of replicas. `regime` is the name of a policy, or empty if one model is trained.
struct regime_options {
  std::string regime, topology;
  std::int64_t replicas = 0, period = 0, clients = 0;
  std::string network, pauses;  // of the machine whose times are predicted

  bool trains_replicas() const { return !regime.empty(); }
  policy_row const& policy() const {
    policy_row const* row = policy_rows;
    while (row->name != regime) ++row;
    return *row;
  }
  network_row const& network_of_prediction() const {
    network_row const* row = network_rows;
    while (row->name != network) ++row;
    return *row;
  }
  bool pushes() const { return regime == "stochastic_gradient_push" || regime == "overlapped_gradient_push"; }

  /// Chooses a topology, a period and a number of clients that were not given, if the policy takes one. Returns a
  /// sentence about options that the policy does not take, or an empty text.
  std::string complete() {
    if (!trains_replicas()) return "";
    policy_row const& row = policy();
    if (!topology.empty() && row.topology == nullptr)
      return "--topology: " + regime + " takes the mean of all replicas, so it has no topology: leave it out";
    if (period != 0 && !row.has_period)
      return "--period: " + regime + " exchanges something in every step, so it has no period: leave it out";
    if (clients != 0 && !row.draws_clients)
      return "--clients: in " + regime + " all replicas take part, so none are drawn: leave it out";
    if (clients > replicas)
      return "--clients: " + std::to_string(clients) + " of " + std::to_string(replicas) +
             " replicas cannot take part in a mean: give fewer";
    if (topology.empty() && row.topology != nullptr) topology = row.topology;
    if (period == 0 && row.has_period) period = 16;
    if (clients == 0 && row.draws_clients) clients = (replicas + 1) / 2;
    return "";
  }
  /// `decentralized_sgd over ring, 8 replicas`
  std::string text() const {
    return regime + (topology.empty() ? "" : " over " + topology) +
           (period == 0 ? "" : " of " + std::to_string(period) + " steps") +
           (clients == 0 ? "" : " and " + std::to_string(clients) + (clients == 1 ? " client" : " clients")) + ", " +
           std::to_string(replicas) + (replicas == 1 ? " replica" : " replicas");
  }
};

/// A sentence about a batch that the replicas cannot divide evenly, or an empty text.
inline std::string refused_batch(regime_options const& o, std::int64_t batch, std::string_view of_what) {
  if (!o.trains_replicas() || batch % o.replicas == 0) return "";
  return "--replicas: a batch of " + std::to_string(batch) + " " + std::string(of_what) + " has no " +
         std::to_string(o.replicas) + " equal parts: give a multiple with --batch, which is that of all replicas";
}

}  // namespace examples
