// SPDX-License-Identifier: Apache-2.0
// Kernels that walk memory, by code that the compiler made for them and by the interpreter, beside a triad in the same
// run: bytes that must be read and written, a second.
//
//   build/quickstart/bench/micro/kernels [--benchmark_filter=adam]
#include <benchmark/benchmark.h>

#include <memory>

#include <meshtensor/device/default.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace {

inline constexpr struct rows : mt::dim<"rows", 4096> {} rows;
inline constexpr struct width : mt::dim<"width", 1024> {} width;
constexpr double tensor_bytes = 4.0 * 4096 * 1024;
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

// Each replaces state by what it computes of it, so that nothing but the kernel runs. `tensors`: read and written.

struct triad {
  static constexpr int tensors = 3;
  constexpr void operator()(mt::scope auto s) const {
    auto a = s.state("a", mt::f32, rows, width), b = s.state("b", mt::f32, rows, width);
    s.update(a, b * 0.5 + a);
  }
};
struct layer_norm {
  static constexpr int tensors = 2;
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.state("x", mt::f32, rows, width);
    s.update(x, mt::nn::layer_norm(s / "norm", x + 0.5, width));
  }
};
struct softmax {
  static constexpr int tensors = 2;
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.state("x", mt::f32, rows, width);
    s.update(x, mt::softmax(x, width));
  }
};
struct cross_entropy {  // with its gradient
  static constexpr int tensors = 3;
  constexpr void operator()(mt::scope auto s) const {
    auto logits = s.parameter("logits", rows, width, mt::normal(1));
    auto target = s.state("target", mt::i32, rows);
    auto loss = mean(mt::nn::cross_entropy(logits, target, width));
    auto const gradients = mt::gradient(loss, logits);
    s.update(logits, gradients);
  }
};
struct gelu {
  static constexpr int tensors = 2;
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.state("x", mt::f32, rows, width);
    s.update(x, mt::gelu(x + 0.1));
  }
};
struct dropout {
  static constexpr int tensors = 2;
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.state("x", mt::f32, rows, width);
    s.update(x, mt::nn::dropout(s / "dropout", x + 0.1, 0.1));
  }
};
struct adam {  // the gradient is the parameter itself
  static constexpr int tensors = 6;
  constexpr void operator()(mt::scope auto s) const {
    auto p = s.parameter("p", rows, width, mt::normal(1));
    mt::adam{}.minimize(s / "optimizer", sum(p * p) * 0.5);
  }
};

void count(benchmark::State& state, int tensors) {
  state.counters["bytes"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * tensors * tensor_bytes, benchmark::Counter::kIsRate);
}

template <class Program>
void compiled(benchmark::State& state) {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<Program, mesh, layout, mt::default_device> step(values);
  step();
  for (auto _ : state) step();
  count(state, Program::tensors);
}

template <class Program>
void interpreted(benchmark::State& state) {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  auto const low = mt::lower(mt::detail::traced<Program>, mt::entry_name<Program>(), mt::mesh_shape{}, {}, {},
                             mt::capabilities_of<mt::default_device>);
  mt::session<mt::default_device> step(values, low->graph, low->planned, mt::mesh_shape{}, low->entry);
  step.step();
  for (auto _ : state) step.step();
  count(state, Program::tensors);
}

template <class... Programs>
void add(std::initializer_list<char const*> names) {
  auto name = names.begin();
  (
      [&] {
        std::string const label = *name++;
        benchmark::RegisterBenchmark((label + "/compiled").c_str(), compiled<Programs>)->UseRealTime();
        benchmark::RegisterBenchmark((label + "/interpreted").c_str(), interpreted<Programs>)->UseRealTime();
      }(),
      ...);
}

}  // namespace

int main(int argc, char** argv) {
  add<triad, layer_norm, softmax, cross_entropy, gelu, dropout, adam>(
      {"triad", "layer_norm", "softmax", "cross_entropy", "gelu", "dropout", "adam"});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
}
