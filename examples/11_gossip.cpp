// SPDX-License-Identifier: Apache-2.0
// Trains 8 replicas of a network, each of which sees only an eighth of a curve. An unchanged training step runs under
// several policies, which say what the replicas exchange. Alone, no replica learns the curve. Gossip: Assran et al.,
// arXiv:1811.10792. The replicas are spread over 1, 2 and 4 ranks.
// Run it alone, with threads as ranks, or with mpirun -n 2 or 4.
//
// Prints:
//
//     nothing                      loss of the mean 0.0363, of the replicas 0.0845 to 0.9395
//     synchronous                  loss of the mean 0.0065, of the replicas 0.0065 to 0.0065
//     gradient push                loss of the mean 0.0193, of the replicas 0.0190 to 0.0324
//     overlapped gradient push     loss of the mean 0.0219, of the replicas 0.0224 to 0.0298
//     D-PSGD on a ring             loss of the mean 0.0223, of the replicas 0.0233 to 0.0390
//     local SGD of 16 steps        loss of the mean 0.0306, of the replicas 0.0306 to 0.0306
//     DiLoCo of 16 steps           loss of the mean 0.0088, of the replicas 0.0088 to 0.0088
//     on 1, 2 and 4 ranks the results differ by less than 0.001
#include <algorithm>
#include <cmath>
#include <vector>

#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace gossip {
using namespace mt::nn;

inline constexpr struct points : mt::dim<"points", 8> {} points;  // the points of one replica
inline constexpr struct curve : mt::dim<"curve", 64> {} curve;  // the points of all
inline constexpr struct in : mt::dim<"in", 1> {} in;
inline constexpr struct hidden : mt::dim<"hidden", 16> {} hidden;

inline constexpr mt::layer network = [](mt::scope auto s, auto x, auto along) {
  auto h = tanh(linear(s / "first", 3 * x, in, hidden));
  return einsum(h, s.parameter("last", hidden, mt::normal(0.25)), mt::to(along));
};

// An ordinary training step and an ordinary evaluation. Neither knows of replicas.
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto answer = network(s / "network", s.input("x", mt::f32, points, in), points);
    mt::momentum{.learning_rate = 0.03}.minimize(s / "optimizer",
                                                 mean_squared_error(answer, s.input("y", mt::f32, points)));
  }
};
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto answer = network(s / "network", s.input("x", mt::f32, curve, in), curve);
    s.output("loss", mean_squared_error(answer, s.input("y", mt::f32, curve)));
  }
};

inline constexpr struct replica : mt::dim<"replica", 8> {} replica;
inline constexpr struct ranks : mt::axis<"ranks"> {} ranks;
struct mesh : mt::mesh<ranks> {};
struct layout : mt::over_replicas<mt::layout<>, replica, ranks> {};

struct nothing {};  // a policy without functions: replicas exchange nothing

constexpr int steps = 320;

// Trains with one policy. Returns the loss of the mean of all replicas and those of the replicas, on the whole curve.
template <class Policy>
std::vector<float> train(mt::job const& job, int n) {
  using training = mt::replicas<train_step, replica, Policy>;
  mt::array<float, replica, points, in> x;
  mt::array<float, replica, points> y;
  mt::array<float, curve, in> all_x;
  mt::array<float, curve> all_y;
  mt::array<float, replica, curve, in> each_x;  // the whole curve for each replica, to evaluate it
  mt::array<float, replica, curve> each_y;
  for (int i = 0; i < 64; ++i) {
    float const at = static_cast<float>(i) / 31.5f - 1, value = std::sin(3 * at);
    x(replica(i / 8), points(i % 8), in(0)) = all_x(curve(i), in(0)) = at;
    y(replica(i / 8), points(i % 8)) = all_y(curve(i)) = value;
    for (int r = 0; r < 8; ++r) each_x(replica(r), curve(i), in(0)) = at, each_y(replica(r), curve(i)) = value;
  }
  mt::store weights(job);
  mt::executable<training, mesh, layout> step(weights, ranks(n));
  mt::executable<mt::consensus<evaluate, training>, mesh, layout> of_mean(weights, ranks(n));
  mt::executable<mt::replicas<evaluate, replica, nothing>, mesh, layout> of_each(weights, ranks(n));
  for (int i = 0; i < steps; ++i) step(mt::feed<"x">(x), mt::feed<"y">(y));
  std::vector<float> losses{of_mean(mt::feed<"x">(all_x), mt::feed<"y">(all_y)).template get<"loss">()};
  auto const one_by_one = of_each(mt::feed<"x">(each_x), mt::feed<"y">(each_y)).template get<"loss">().gather();
  losses.insert(losses.end(), one_by_one.data(), one_by_one.data() + one_by_one.size());
  return losses;
}

struct outcome {
  float mean;  // the loss of the mean of all replicas
  float gap;   // the largest difference between numbers of ranks
};

// Trains on one rank and on several.
template <class Policy>
outcome compare(mt::job const& job, char const* name) {
  auto const alone = train<Policy>(mt::job::in_lockstep(), 1);
  auto const [least, most] = std::minmax_element(alone.begin() + 1, alone.end());
  mt::print(job, "{:<28} loss of the mean {:.4f}, of the replicas {:.4f} to {:.4f}\n", name, alone[0], *least, *most);
  float gap = 0;
  for (int const n : job.processes() == 1 ? std::vector{2, 4} : std::vector{job.processes()}) {
    auto const spread = train<Policy>(job, n);
    for (std::size_t i = 0; i < alone.size(); ++i) gap = std::max(gap, std::abs(spread[i] - alone[i]));
  }
  return {alone[0], gap};
}

int compare_policies(mt::job const& job) {
  auto const alone = compare<nothing>(job, "nothing");
  float worst = 0, gap = alone.gap;
  auto const trial = [&]<class Policy>(char const* name, Policy) {
    outcome const o = compare<Policy>(job, name);
    worst = std::max(worst, o.mean), gap = std::max(gap, o.gap);
  };
  trial("synchronous", mt::synchronous{});
  trial("gradient push", mt::stochastic_gradient_push<mt::one_peer_exponential>{});
  trial("overlapped gradient push", mt::overlapped_gradient_push<mt::one_peer_exponential>{});
  trial("D-PSGD on a ring", mt::decentralized_sgd<mt::ring>{});
  trial("local SGD of 16 steps", mt::local_sgd<16>{});
  trial("DiLoCo of 16 steps", mt::diloco<16>{});
  mt::print(job, "on 1, 2 and 4 ranks the results differ by {} than 0.001\n", gap < 1e-3f ? "less" : "more");
  return gap < 1e-3f && worst < alone.mean ? 0 : 1;
}
}  // namespace gossip

int main(int argc, char** argv) { return mt::run_main(argc, argv, gossip::compare_policies); }
