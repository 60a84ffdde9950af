// SPDX-License-Identifier: Apache-2.0
// Causal attention with its gradients, 8 heads of 64, alone: `attention [--length N] [--threads N]`. Prints one line of
// JSON. The operations counted are those of the half of the scores that is not masked, forward and, with the scores
// made again, backward.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include <meshtensor/device/default.hpp>
#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>

namespace {
namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct length : mt::dim<"length"> {} length;
inline constexpr struct memory : mt::dim<"memory", length + 0> {} memory;
inline constexpr struct heads : mt::dim<"heads", 8> {} heads;
inline constexpr struct d_head : mt::dim<"d_head", 64> {} d_head;

struct attend {
  constexpr void operator()(mt::scope auto s) const {
    auto q = s.input("q", mt::f32, batch, length, heads, d_head);
    auto k = s.input("k", mt::f32, batch, memory, heads, d_head);
    auto v = s.input("v", mt::f32, batch, memory, heads, d_head);
    auto score_gradient = s.input("score_gradient", mt::f32, batch, length, heads, d_head);
    auto y = mt::nn::causal_dot_product_attention(q, k, v, length, memory, d_head);
    auto [dq, dk, dv] = gradient(sum(y * score_gradient), q, k, v);
    s.output("sum", sum(y) + sum(dq) + sum(dk) + sum(dv));
  }
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void run(mt::job const& job, std::int64_t n, int steps) {
  std::int64_t const count = std::max<std::int64_t>(1, 8192 / n);
  mt::store nothing(job);
  mt::executable<attend, mt::mesh<>, mt::layout<>, mt::default_device> step(nothing, batch(count), length(n));
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> all[4];
  for (auto& x : all) {
    x.resize(static_cast<std::size_t>(count * n * 8 * 64));
    for (float& e : x) e = normal(random);
  }
  step(mt::feed<"q">(all[0]), mt::feed<"k">(all[1]), mt::feed<"v">(all[2]), mt::feed<"score_gradient">(all[3]));
  std::vector<double> took;
  for (int i = 0; i < steps; ++i) {
    double const begin = now();
    step();
    took.push_back(now() - begin);
  }
  std::sort(took.begin(), took.end());
  double const median = took[took.size() / 2];
  double const flops = 0.5 * (2 * 2 + 2 * 5) * static_cast<double>(count * 8 * n) * static_cast<double>(n * 64);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  mt::print(job,
            "{{\"peer\": \"meshtensor\", \"workload\": \"attention {}\", \"dtype\": \"f32\", \"step_ms\": {:.2f}, "
            "\"min_ms\": {:.2f}, \"gflops\": {:.1f}, \"peak_rss_mb\": {}}}\n",
            n, median * 1e3, took[0] * 1e3, flops / median * 1e-9, used.ru_maxrss / 1024);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Causal attention with its gradients.");
  std::int64_t n = 2048;
  app.add_option("--length", n);
  int steps = 7;
  app.add_option("--steps", steps);
  CLI11_PARSE(app, argc, argv);
  return mt::run_main([&](mt::job const& job) { run(job, n, steps); });
}
