// SPDX-License-Identifier: Apache-2.0
// Times pools of 3x3 with stride 2 and depthwise convolutions of 3x3, their gradients too, in milliseconds of their
// operations alone.
//
//   windows [name] [steps]     a line of JSON; all names: without arguments. MESHTENSOR_THREADS=1 for one thread.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "meshtensor/base/memory.hpp"
#include "meshtensor/device/default.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace {

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct rows_dim : mt::dim<"rows"> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns"> {} columns;
inline constexpr struct channels_dim : mt::dim<"channels"> {} channels;
inline constexpr struct rows_2_dim : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct columns_2_dim : mt::dim<"columns_2", mt::divided(columns, 2)> {} columns_2;
inline constexpr struct k_rows_dim : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_columns_dim : mt::dim<"k_columns", 3> {} k_columns;
struct mesh : mt::mesh<> {};

enum class what : std::uint8_t { max, sum, mean, depthwise };
constexpr char const* kinds[] = {"max", "sum", "mean", "depthwise"};

template <what What>
struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch, rows, columns, channels);
    if constexpr (What == what::depthwise) {
      auto const k = s.input("k", mt::f32, k_rows, k_columns, channels);
      auto const down = mt::window(rows, rows, k_rows, {.padding = mt::centred_padding});
      auto const aside = mt::window(columns, columns, k_columns, {.padding = mt::centred_padding});
      auto const y = conv(x, k, to(batch, rows, columns, channels), down, aside);
      auto const loss = sum(y * s.input("dy", mt::f32, batch, rows, columns, channels));
      s.output("y", y), s.output("dx", gradient(loss, x)), s.output("dk", gradient(loss, k));
    } else {
      auto const down = mt::window(rows, rows_2, 3, {.stride = 2, .padding = mt::centred_padding});
      auto const aside = mt::window(columns, columns_2, 3, {.stride = 2, .padding = mt::centred_padding});
      auto const y = [&] {
        if constexpr (What == what::max) return max_pool(x, down, aside);
        else if constexpr (What == what::sum) return sum_pool(x, down, aside);
        else return mean_pool(x, down, aside);
      }();
      auto const loss = sum(y * s.input("dy", mt::f32, batch, rows_2, columns_2, channels));
      s.output("y", y), s.output("dx", gradient(loss, x));
    }
  }
};

/// Which way a node computes: 0 forward, 1 the gradient of the data, 2 that of the kernel.
int way_of(mt::module const& m, mt::node const& n) {
  if (n.kind == mt::primitive::conv) return static_cast<int>(n.function);
  if (n.kind == mt::primitive::pool) return mt::pool_rule::leads_back(mt::pool_rule::step_of(n)) ? 1 : 0;
  for (int i = 0; i < n.operands.count; ++i) {
    auto const by = m.values[m.operand(n, i)].node;
    if (by != mt::no_id && m.nodes[by].kind == mt::primitive::pool) return way_of(m, m.nodes[by]);
  }
  return 1;
}

template <what What>
void measure(std::string const& wanted, int steps, std::int64_t size, std::int64_t depth) {
  std::string const name = std::string(kinds[static_cast<int>(What)]) + " " + std::to_string(size);
  if (name.find(wanted) == std::string::npos) return;
  auto const job = mt::job::in_lockstep();
  mt::store values(job);
  mt::executable<program<What>, mesh, mt::layout<>, mt::default_device> step(values, batch(8), rows(size),
                                                                             columns(size), channels(depth));
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<mt::arena> blocks;  // aligned, as the results of operations are
  auto const draw = [&](std::int64_t n) {
    blocks.emplace_back(static_cast<std::size_t>(n) * sizeof(float));
    std::span<float> const all(reinterpret_cast<float*>(blocks.back().data()), static_cast<std::size_t>(n));
    for (float& v : all) v = normal(random);
    return std::span<float const>(all);
  };
  std::int64_t const out = What == what::depthwise ? size : size / 2;
  auto const x = draw(8 * size * size * depth), dy = draw(8 * out * out * depth), k = draw(9 * depth);
  auto const run = [&] {
    if constexpr (What == what::depthwise) step(mt::feed<"x">(x), mt::feed<"k">(k), mt::feed<"dy">(dy));
    else step(mt::feed<"x">(x), mt::feed<"dy">(dy));
  };
  for (int i = 0; i < 3; ++i) run();
  std::vector<double> took[3];
  std::string nodes;
  mt::module const& m = step.graph();
  for (int i = 0; i < steps; ++i) {
    step.record();
    run();
    auto const& totals = step.recorded().at(0)->totals();
    double ns[3] = {};
    nodes.clear();
    for (std::size_t n = 0; n < totals.size(); ++n) {
      bool const computes = mt::is_computed(m.nodes[n].kind) || m.nodes[n].kind == mt::primitive::kernel;
      if (totals[n].calls == 0 || !computes) continue;
      ns[way_of(m, m.nodes[n])] += static_cast<double>(totals[n].own);
      nodes += " " + std::string(mt::text_of(m.nodes[n])) + " " + std::to_string(totals[n].own / 1000);
    }
    for (int w = 0; w < 3; ++w) took[w].push_back(ns[w]);
  }
  for (auto& one : took) std::sort(one.begin(), one.end());
  auto const middle = [&](int w) { return took[w][took[w].size() / 2] / 1e6; };
  std::printf("{\"name\": \"%s\", \"ms\": [%.3f, %.3f, %.3f], \"microseconds\": \"%s\"}\n", name.c_str(), middle(0),
              middle(1), middle(2), nodes.c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  std::string const wanted = argc > 1 ? argv[1] : "";
  int const steps = argc > 2 ? std::atoi(argv[2]) : 15;
  measure<what::max>(wanted, steps, 112, 64);
  measure<what::sum>(wanted, steps, 112, 64);
  measure<what::mean>(wanted, steps, 112, 64);
  measure<what::depthwise>(wanted, steps, 112, 64);
  measure<what::depthwise>(wanted, steps, 14, 512);
}
