// SPDX-License-Identifier: Apache-2.0
// Trains one network on four ranks under five layouts. The loss is the same, but memory and communication differ.
// Run it alone, with threads as ranks, or with mpirun -n 4.
//
// Prints:
//
//     for each rank, in bytes:            weights  intermediate     received
//     layout               loss       and moments        values    in a step
//     replicated       0.175809             12288         44160            0
//     data parallel    0.175809             12288         12672         6156
//     tensor parallel  0.175809              3072         12288         2048
//     ZeRO 1           0.175809              6144         12672         6152
//     ZeRO 3           0.175809              3072         12672         6152
#include <cmath>
#include <random>

#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>
#include <meshtensor/pass/cost.hpp>

namespace mt = meshtensor;

namespace network {
using mt::to;

inline constexpr struct batch : mt::dim<"batch", 32> {} batch;
inline constexpr struct in : mt::dim<"in", 8> {} in;
inline constexpr struct hidden : mt::dim<"hidden", 64> {} hidden;
inline constexpr struct out : mt::dim<"out", 8> {} out;

inline constexpr mt::layer parameters = [](mt::scope auto s) {
  return std::tuple(s.parameter("up", in, hidden), s.parameter("down", hidden, out));
};

struct train_step {  // names no rank, because the layouts below distribute the program
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto [up, down] = parameters(s / "parameters");
    auto h = gelu(einsum(x, up, to(batch, hidden)));
    auto y = einsum(h, down, to(batch, out));
    auto loss = mt::nn::mean_squared_error(y, s.input("y", mt::f32, batch, out));
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

inline constexpr struct workers : mt::axis<"workers", 4> {} workers;
struct mesh : mt::mesh<workers> {};

// A layout says which dims are sharded over the ranks. A rule holds everywhere, or with `mt::in` in one scope.
struct replicated : mt::layout<> {};
struct data_parallel : mt::layout<mt::shard<batch, workers>> {};
struct tensor_parallel : mt::layout<mt::shard<hidden, workers>> {};  // Shoeybi et al., arXiv:1909.08053
struct zero_1 : mt::layout<mt::shard<batch, workers>,                // Rajbhandari et al., arXiv:1910.02054
                           mt::in<"optimizer", mt::shard<hidden, workers>>> {};
struct zero_3 : mt::layout<mt::shard<batch, workers>, mt::in<"optimizer", mt::shard<hidden, workers>>,
                           mt::in<"parameters", mt::shard<hidden, workers>>> {};

// The compiler plans the collectives, so that we can assert them. `mt::print(job, "{}", mt::explain(step))` prints all.
static_assert(mt::traffic<train_step, mesh, tensor_parallel>.all_reduces == 1);  // for y
static_assert(mt::traffic<train_step, mesh, data_parallel>.all_reduces == 3);    // for two gradients and the loss
static_assert(mt::traffic<train_step, mesh, zero_3>.reduce_scatters == 2);       // for two gradients
static_assert(mt::traffic<train_step, mesh, zero_3>.all_gathers == 2);           // for two parameters

template <class Layout>
float train(mt::job const& job, char const* name) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  mt::array<float, batch, in> x;
  mt::array<float, batch, out> y;
  for (float& e : x) e = normal(generator);
  for (float& e : y) e = normal(generator);

  mt::store weights(job);
  mt::executable<train_step, mesh, Layout> step(weights);
  float loss = 0;
  for (int i = 0; i < 50; ++i) loss = step(mt::feed<"x">(x), mt::feed<"y">(y)).template get<"loss">();
  mt::print(job, "{:<16} {:.6f} {:>17} {:>13} {:>12}\n", name, loss, step.planned().variable_bytes,
            step.planned().arena_bytes, mt::traffic<train_step, mesh, Layout>.bytes);
  return loss;
}

int compare(mt::job const& job) {
  mt::print(job, "for each rank, in bytes:            weights  intermediate     received\n");
  mt::print(job, "{:<16} {:>8} {:>17} {:>13} {:>12}\n", "layout", "loss", "and moments", "values", "in a step");
  float const loss = train<replicated>(job, "replicated");
  bool same = true;
  for (float const other : {train<data_parallel>(job, "data parallel"), train<tensor_parallel>(job, "tensor parallel"),
                            train<zero_1>(job, "ZeRO 1"), train<zero_3>(job, "ZeRO 3")})
    same = same && std::abs(other - loss) < 1e-5f;
  return same ? 0 : 1;
}
}  // namespace network

int main(int argc, char** argv) { return mt::run_main(argc, argv, network::compare); }
