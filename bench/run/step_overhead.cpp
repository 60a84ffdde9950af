// SPDX-License-Identifier: Apache-2.0
// What a step costs beside its work, as a list of instructions and written out by the compiler: programs with next to
// nothing to compute, on processors that are threads.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "meshtensor/meshtensor.hpp"

#if MESHTENSOR_WITH_ONEDNN && MESHTENSOR_WITH_TBB
#  include "meshtensor/device/cpu/device.hpp"
#endif

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch", 8> {} batch;
inline constexpr struct model_dim : mt::dim<"model", 8> {} model;
inline constexpr struct inner_dim : mt::dim<"inner", 16> {} inner;
inline constexpr struct layers_dim : mt::dim<"layers", 2> {} layers;
template <int Processors>  // 0: open
struct data_axis : mt::axis<"data", Processors> {};
template <int Processors>
struct mesh : mt::mesh<data_axis<Processors>{}> {};
template <int Processors>
struct layout : mt::layout<mt::shard<batch, data_axis<Processors>{}>> {};

/// A mean: one number for each processor to send.
struct one_number {
  constexpr void operator()(mt::scope auto s) const { s.output("loss", mean(s.input("x", mt::f32, batch, model))); }
};

/// Two layers, trained.
struct two_layers {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, model);
    auto y = repeat(s / "blocks", layers, x, [](mt::scope auto r, auto h) {
      return h + mt::nn::feed_forward(r, mt::nn::rms_norm(r / "norm", h, model), model, inner);
    });
    auto loss = mt::nn::mean_squared_error(y, x * 0.5);
    s.output("loss", loss);
    mt::adam{.learning_rate = s.number("learning_rate", 1e-3)}.minimize(s / "optimizer", loss);
  }
};

/// Microseconds of one step, input and output included: the median of the means of several rounds.
template <class Executable>
double microseconds(auto const&... axes) {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  Executable step(weights, axes...);
  std::vector<float> const x(64, 0.5f);
  float sum = 0;
  auto const run = [&](int steps) {
    using clock = std::chrono::steady_clock;
    auto const start = clock::now();
    for (int i = 0; i < steps; ++i) sum += step(mt::feed<"x">(x)).template get<"loss">();
    return std::chrono::duration<double, std::micro>(clock::now() - start).count() / steps;
  };
  int const steps = std::max(10, static_cast<int>(30000 / run(20)));
  std::vector<double> rounds;
  for (int i = 0; i < 9; ++i) rounds.push_back(run(steps));
  std::sort(rounds.begin(), rounds.end());
  if (!(sum * 0 == 0)) throw mt::error("R10", "the loss is no number");
  return rounds[rounds.size() / 2];
}

/// A step that is a list of instructions.
template <class Program, class Device>
void row(char const* program, char const* device) {
  fmt::print("{:<12} {:<10} {:<6}", program, device, "list");
  for (int n : {1, 2, 4})
    fmt::print(" {:>10.1f}", microseconds<mt::executable<Program, mesh<0>, layout<0>, Device>>(data_axis<0>{}(n)));
  fmt::print("\n");
}
/// One that the compiler has written out.
template <class Program, class Device, int... Processors>
void row_of_code(char const* program, char const* device) {
  fmt::print("{:<12} {:<10} {:<6}", program, device, "code");
  (fmt::print(" {:>10.1f}", microseconds<mt::compiled_step<Program, mesh<Processors>, layout<Processors>, Device>>()),
   ...);
  fmt::print("\n");
}

}  // namespace

int main() {
  fmt::print("microseconds of a step\n{:<12} {:<10} {:<6} {:>10} {:>10} {:>10}\n", "program", "device", "step", "1",
             "2", "4");
  row<one_number, mt::reference_device>("one_number", "reference");
  row<two_layers, mt::reference_device>("two_layers", "reference");
#if MESHTENSOR_WITH_ONEDNN && MESHTENSOR_WITH_TBB
  row<one_number, mt::cpu_device>("one_number", "cpu");
  row<two_layers, mt::cpu_device>("two_layers", "cpu");
  row_of_code<one_number, mt::cpu_device, 1, 2, 4>("one_number", "cpu");
  row_of_code<two_layers, mt::cpu_device, 1, 2, 4>("two_layers", "cpu");
#endif
}
