// SPDX-License-Identifier: Apache-2.0
// The same training step bound by the compiler, its extents in its types, and bound at start-up, its extents given
// then: how long each takes to bind, and what a step of each takes, in turn. Prints one line of JSON.
//
//   cmake --preset quickstart -DMESHTENSOR_BENCH=ON && cmake --build build/quickstart --target bench_run_early_or_late
//   build/quickstart/bench/run/early_or_late [--steps 40]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <random>
#include <type_traits>
#include <vector>

#include <meshtensor/device/default.hpp>
#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>

namespace {
namespace mt = meshtensor;
using namespace mt::nn;

template <bool Known, mt::name Label, std::int64_t Extent>
struct sized : std::conditional_t<Known, mt::dim<Label, Extent>, mt::dim<Label>> {};
template <bool Known>
inline constexpr sized<Known, "batch", 4> batch{};
template <bool Known>
inline constexpr sized<Known, "length", 128> length{};
template <bool Known>
inline constexpr sized<Known, "memory", 128> memory{};
template <bool Known>
inline constexpr sized<Known, "vocab", 256> vocab{};
template <bool Known>
inline constexpr sized<Known, "layers", 6> layers{};
template <bool Known>
inline constexpr sized<Known, "d_model", 512> d_model{};
template <bool Known>
inline constexpr sized<Known, "heads", 8> heads{};
template <bool Known>
inline constexpr sized<Known, "d_head", 64> d_head{};
template <bool Known>
inline constexpr sized<Known, "d_ff", 2048> d_ff{};
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

template <bool Known>
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto text = s.input("text", mt::i32, batch<Known>, length<Known>);
    auto next = s.input("next", mt::i32, batch<Known>, length<Known>);
    auto x = embed(s / "tokens", text, vocab<Known>, d_model<Known>) +
             s.parameter("positions", length<Known>, d_model<Known>, mt::normal(0.02));
    auto deep = repeat(s / "layers", layers<Known>, x, [](mt::scope auto r, auto h) {
      auto normed = layer_norm(r / "norm_1", h, d_model<Known>);
      auto a = h + causal_attention(r / "attention", normed, length<Known>, memory<Known>, d_model<Known>, heads<Known>,
                                    d_head<Known>);
      auto hidden = relu(linear(r / "up", layer_norm(r / "norm_2", a, d_model<Known>), d_model<Known>, d_ff<Known>));
      return a + linear(r / "down", hidden, d_ff<Known>, d_model<Known>);
    });
    auto y = layer_norm(s / "norm", deep, d_model<Known>);
    auto loss = mean(cross_entropy(linear(s / "logits", y, d_model<Known>, vocab<Known>), next, vocab<Known>));
    mt::adam{.learning_rate = 1e-3}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

template <bool Known>
struct trained {
  mt::store weights;
  double begin = now();
  mt::executable<step<Known>, mesh, layout, mt::default_device> train;
  double bound = now() - begin;
  std::vector<double> took;
  double loss = 0;

  template <class... Extents>
  explicit trained(mt::job const& job, Extents const&... extents) : weights(job), train(weights, extents...) {}

  void once(std::vector<std::int32_t> const& text, std::vector<std::int32_t> const& next) {
    double const t = now();
    loss = static_cast<double>(train(mt::feed<"text">(text), mt::feed<"next">(next)).template get<"loss">());
    took.push_back(now() - t);
  }
};

void run(mt::job const& job, int steps) {
  trained<true> early(job);
  trained<false> late(job, batch<false>(4), length<false>(128), memory<false>(128), vocab<false>(256), layers<false>(6),
                      d_model<false>(512), heads<false>(8), d_head<false>(64), d_ff<false>(2048));
  std::vector<std::int32_t> text(4 * 128), next(text.size());
  std::mt19937 random(1);
  std::vector<double> ratios;
  for (int i = 0; i < steps + 2; ++i) {
    for (auto& t : text) t = static_cast<std::int32_t>(random() % 64);
    for (std::size_t k = 0; k < text.size(); ++k) next[k] = text[k] * 3 % 64;
    if (i % 2 == 0) early.once(text, next), late.once(text, next);
    else late.once(text, next), early.once(text, next);
    if (i < 2) early.took.clear(), late.took.clear();
    else ratios.push_back(late.took.back() / early.took.back());
  }
  mt::print(
      job,
      "{{\"bind_early_ms\": {:.1f}, \"bind_late_ms\": {:.1f}, \"step_early_ms\": {:.2f}, \"step_late_ms\": {:.2f}, "
      "\"late_over_early\": {:.3f}, \"of_medians\": {:.3f}, \"losses\": [{:.6f}, {:.6f}]}}\n",
      early.bound * 1e3, late.bound * 1e3, median(early.took) * 1e3, median(late.took) * 1e3, median(ratios),
      median(late.took) / median(early.took), early.loss, late.loss);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A training step bound by the compiler and at start-up.");
  int steps = 40;
  app.add_option("--steps", steps, "Steps to time of each");
  CLI11_PARSE(app, argc, argv);
  return mt::run_main([&](mt::job const& job) {
    run(job, steps);
    return 0;
  });
}
