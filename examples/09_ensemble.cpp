// SPDX-License-Identifier: Apache-2.0
// Trains 8 networks at once, which start differently and learn from the same points. They agree near the points, but
// not far from them: Lakshminarayanan et al., arXiv:1612.01474. The members are spread over 1, 2 and 4 ranks.
// Run it alone, with threads as ranks, or with mpirun -n 2 or 4.
//
// Prints:
//
//     1 ranks, step   0: loss 1.12, disagreement 0.98 near the points, 1.28 far from them
//     1 ranks, step 100: loss 0.04, disagreement 0.07 near the points, 0.51 far from them
//     1 ranks, step 200: loss 0.02, disagreement 0.06 near the points, 0.69 far from them
//     1 ranks, step 300: loss 0.01, disagreement 0.05 near the points, 0.76 far from them
//     2 ranks, step   0: loss 1.12, disagreement 0.98 near the points, 1.28 far from them
//     ...
//     in the first 100 steps the results differ by less than 0.01
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

// An ordinary layer, for one network. It does not know of other members.
inline constexpr mt::layer network = [](mt::scope auto s, auto x) {
  auto h = tanh(linear(s / "first", 3 * x, in, hidden));
  return einsum(h, s.parameter("last", hidden, mt::normal(0.25)), mt::to(points));
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, points, in), far_x = s.input("far_x", mt::f32, points, in);
    auto y = s.input("y", mt::f32, points);
    // Each member has weights and an optimizer of its own. All members see the same x and y.
    auto [losses, near, far] = mt::each(s / "members", member, [&](mt::scope auto m) {
      auto answer = network(m / "network", x);
      auto loss = mean_squared_error(answer, y);
      mt::adam{.learning_rate = 0.005}.minimize(m / "optimizer", loss);
      auto gap = [](auto of_one) { return of_one - mean(mt::across(of_one, member), member); };
      return std::tuple(loss, gap(answer), gap(network(m / "network", far_x)));
    });
    s.output("loss", mean(losses));
    s.output("near", sqrt(mean(near * near)));  // the standard deviation of the members' answers
    s.output("far", sqrt(mean(far * far)));
  }
};

inline constexpr struct ranks : mt::axis<"ranks"> {} ranks;
struct mesh : mt::mesh<ranks> {};
struct layout : mt::layout<mt::shard<member, ranks>> {};

std::vector<float> train(mt::job const& job, mt::job const& speaker, int n) {
  mt::array<float, points, in> x, far_x;
  mt::array<float, points> y;
  for (int i = 0; i < 32; ++i) {
    float const at = static_cast<float>(i) / 31;
    x(points(i), in(0)) = 2 * at - 1, y(points(i)) = std::sin(3 * (2 * at - 1)), far_x(points(i), in(0)) = 2 + 2 * at;
  }
  mt::store weights(job);
  mt::executable<train_step, mesh, layout> step(weights, ranks(n));
  std::vector<float> results;
  for (int i = 0; i <= 300; ++i) {
    auto const r = step(mt::feed<"x">(x), mt::feed<"far_x">(far_x), mt::feed<"y">(y));
    results.insert(results.end(), {r.get<"loss">(), r.get<"near">(), r.get<"far">()});
    if (i % 100 == 0)
      mt::print(speaker,
                "{} ranks, step {:>3}: loss {:.2f}, disagreement {:.2f} near the points, {:.2f} far from them\n", n, i,
                float(r.get<"loss">()), float(r.get<"near">()), float(r.get<"far">()));
  }
  return results;
}

int compare(mt::job const& job) {
  auto const alone = train(mt::job::in_lockstep(), job, 1);
  float most = 0;
  for (int const n : job.processes() == 1 ? std::vector{2, 4} : std::vector{job.processes()}) {
    auto const spread = train(job, job, n);
    // Later, steps of Adam with small gradients enlarge differences of rounding.
    for (std::size_t i = 0; i < 3 * 101; ++i) most = std::max(most, std::abs(spread[i] - alone[i]));
  }
  mt::print(job, "in the first 100 steps the results differ by {} than 0.01\n", most < 1e-2f ? "less" : "more");
  float const far = alone.back(), near = alone[alone.size() - 2], loss = alone[alone.size() - 3];
  return most < 1e-2f && loss < 0.02f && far > 5 * near ? 0 : 1;
}
}  // namespace ensemble

int main(int argc, char** argv) { return mt::run_main(argc, argv, ensemble::compare); }
