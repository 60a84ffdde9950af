// SPDX-License-Identifier: Apache-2.0
// Trains 8 networks at once, which start differently and learn from the same points. They agree near the points, but
// not far from them: Lakshminarayanan et al., arXiv:1612.01474. The members are spread over 1, 2 and 4 ranks.
// Run it alone, with threads as ranks, or with mpirun -n 2 or 4.
//
// Prints:
//
//     1 ranks, step   0: loss 0.6, disagreement 0.5 near the points and 0.5 far from them
#include <algorithm>
#include <cmath>
#include <vector>

#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace ensemble {
using namespace mt::nn;

inline constexpr struct member : mt::dim<"member", 8> {} member;
inline constexpr struct points : mt::dim<"points", 32> {} points;
inline constexpr struct in : mt::dim<"in", 1> {} in;
inline constexpr struct hidden : mt::dim<"hidden", 16> {} hidden;

// This is an ordinary layer for one network. It does not know of other members.
inline constexpr mt::layer network = [](mt::scope auto s, auto x) {
  auto h = tanh(linear(s / "first", 3 * x, in, hidden));
  return einsum(h, s.parameter("last", hidden, mt::normal(0.25)), mt::to(points));
};

// Each member has weights and an optimizer of its own. All of them see the same x and y.
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, points, in), y = s.input("y", mt::f32, points);
    auto losses = mt::each(s / "members", member, [&](mt::scope auto m) {
      auto loss = mean_squared_error(network(m / "network", x), y);
      mt::adam{.learning_rate = 0.02}.minimize(m / "optimizer", loss);
      return loss;
    });
    s.output("loss", mean(losses));
  }
};

// The disagreement at a point is the standard deviation of the members' answers.
struct ask {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, points, in);
    auto gap = mt::each(s / "members", member, [&](mt::scope auto m) {
      auto y = network(m / "network", x);
      return y - mean(mt::across(y, member), member);
    });
    s.output("disagreement", sqrt(mean(gap * gap, member)));
  }
};
struct programs : mt::programs<train_step, ask> {};

inline constexpr struct ranks : mt::axis<"ranks"> {} ranks;
struct mesh : mt::mesh<ranks> {};
struct layout : mt::layout<mt::shard<member, ranks>> {};  // nothing else changes

using points_array = mt::array<float, points, in>;
points_array between(float first, float last) {
  points_array x;
  for (int i = 0; i < 32; ++i) x(points(i), in(0)) = first + (last - first) * static_cast<float>(i) / 31;
  return x;
}

struct result {
  std::vector<float> losses;
  float near = 0, far = 0;
};
result train(mt::job const& job, mt::job const& speaker, int n) {
  mt::store weights(job);
  mt::executable<programs, train_step, mesh, layout> step(weights, ranks(n));
  mt::executable<programs, ask, mesh, layout> answer(weights, ranks(n));
  auto const x = between(-1, 1);
  mt::array<float, points> y;
  for (int i = 0; i < 32; ++i) y(points(i)) = std::sin(3 * x(points(i), in(0)));
  auto const disagreement = [&](float first, float last) {
    return mean(answer(mt::feed<"x">(between(first, last))).get<"disagreement">().gather());
  };
  result found;
  for (int i = 0; i <= 300; ++i) {
    found.losses.push_back(step(mt::feed<"x">(x), mt::feed<"y">(y)).get<"loss">());
    if (i % 100 != 0) continue;
    found.near = disagreement(-1, 1), found.far = disagreement(2, 4);
    mt::print(speaker, "{} ranks, step {:>3}: loss {:.4f}, disagreement {:.3f} near the points, {:.3f} far from them\n",
              n, i, found.losses.back(), found.near, found.far);
  }
  return found;
}

int compare(mt::job const& job) {
  auto const alone = train(mt::job::in_lockstep(), job, 1);
  float most = 0;
  for (int const n : job.processes() == 1 ? std::vector{2, 4} : std::vector{job.processes()}) {
    auto const spread = train(job, job, n);
    for (std::size_t i = 0; i < alone.losses.size(); ++i)
      most = std::max(most, std::abs(spread.losses[i] - alone.losses[i]));
  }
  mt::print(job, "the losses differ by {:.0e} at most\n", most);
  return most < 1e-5f && alone.losses.back() < 0.01f && alone.far > 5 * alone.near ? 0 : 1;
}
}  // namespace ensemble

int main(int argc, char** argv) { return mt::run_main(argc, argv, ensemble::compare); }
