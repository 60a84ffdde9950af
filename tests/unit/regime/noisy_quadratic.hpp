// SPDX-License-Identifier: Apache-2.0
// Replicas with functions whose minimum is known: the sum of curvature · (w - centre)² / 2 + noise · w over the width.
// Without curvature a step is the noise alone, and without noise replicas do nothing but mix.
#pragma once

#include <algorithm>
#include <cmath>

#include "meshtensor/nn/nn.hpp"
#include "meshtensor/regime/regime.hpp"
#include "unit/op/trial.hpp"

namespace noisy_quadratic {

namespace mt = meshtensor;
using numbers = std::vector<double>;
using trial::numbers_of;

inline constexpr struct any_replica : mt::dim<"replica"> {} replica;
inline constexpr struct width_dim : mt::dim<"width"> {} width;

/// One replica's step. Its second parameter has only noise.
struct step_of_one {
  constexpr void operator()(mt::scope auto s) const {
    auto const w = s.parameter("w", width, mt::zeros), v = s.parameter("v", width, mt::zeros);
    auto const d = w - s.input("centre", s.real(), width);
    auto const noise = s.input("noise", s.real(), width);
    auto const loss = sum(s.input("curvature", s.real(), width) * d * d * 0.5 + noise * (w + v));
    mt::sgd{.learning_rate = s.number("rate", 0.125)}.minimize(s / "optimizer", loss);
  }
};

inline numbers drawn(int count, std::uint64_t seed) {
  trial::stream s{seed};
  numbers all;
  for (int i = 0; i < count; ++i) all.push_back(s.between(-1, 1));
  return all;
}

/// `n` replicas under a policy. Their parameters are numbers of the replicas, one after the other.
class replicas_of_quadratic {
 public:
  /// With a dim of the replicas that has an extent, n must be this extent.
  template <class Policy, mt::dtype Type = mt::dtype::f64, class Dim = any_replica>
  static replicas_of_quadratic under(int n, int width_of_one) {
    using training = mt::precision<mt::replicas<step_of_one, Dim{}, Policy>, Type>;
    std::vector<mt::dim_extent> extents{width(width_of_one)};
    if constexpr (std::is_same_v<Dim, any_replica>) extents.push_back(replica(n));
    return {trial::program::of<training>(extents), n, width_of_one};
  }

  int n, width_of_one;
  void set(std::string const& path, numbers const& all) { put(p_.variables.at(path), all); }
  void fill(std::string const& input, numbers const& all) { put(p_.inputs.at(input), all); }
  void set_rate(double rate) { p_.settings.named["rate"] = rate; }
  void step() { p_.run(); }
  numbers values(std::string const& path = "w") const { return numbers_of(p_.variables.at(path)); }
  /// The push-sum weights, or 1 for each replica under a policy without them.
  numbers weights() const {
    auto const w = p_.variables.find("regime/push_sum_weight");
    return w == p_.variables.end() ? numbers(static_cast<std::size_t>(n), 1) : numbers_of(w->second);
  }
  /// The sums over replicas of what the policy mixes: the parameter times the weight.
  numbers sums(std::string const& path = "w") const {
    numbers all(static_cast<std::size_t>(width_of_one));
    numbers const z = values(path), w = weights();
    for (std::size_t i = 0; i < z.size(); ++i) all[i % all.size()] += w[i / all.size()] * z[i];
    return all;
  }
  /// Starts with one value of each replica: afterwards, its value k is the share of replica k in it.
  void start_as_identity() {
    numbers identity(static_cast<std::size_t>(n * n));
    for (int i = 0; i < n; ++i) identity[static_cast<std::size_t>(i * n + i)] = 1;
    set("w", identity);
  }
  /// The largest difference of a value from `mean`.
  double furthest_from(double mean) const {
    double most = 0;
    for (double const one : values()) most = std::max(most, std::abs(one - mean));
    return most;
  }

 private:
  trial::program p_;

  replicas_of_quadratic(trial::program p, int count, int extent) : n(count), width_of_one(extent), p_(std::move(p)) {
    for (auto& [name, b] : p_.inputs) put(b, numbers(static_cast<std::size_t>(b.size())));
    p_.run();  // makes the variables
    p_.settings.step = 0;
    for (auto& [path, b] : p_.variables)
      put(b, numbers(static_cast<std::size_t>(b.size()), path == "regime/push_sum_weight" ? 1 : 0));
  }
  static void put(mt::block& b, numbers const& all) {
    REQUIRE(b.size() == static_cast<std::int64_t>(all.size()));
    for (std::size_t i = 0; i < all.size(); ++i) b.set(static_cast<std::int64_t>(i), all[i]);
  }
};

}  // namespace noisy_quadratic
