// SPDX-License-Identifier: Apache-2.0
// Trains a recurrent network with residual blocks at three depths. `scan` runs a cell along time, and `repeat` runs a
// block along layers, so that the program is compiled once and does not grow with the depth. Run it alone, on one rank.
//
// Prints:
//
//     layers  elements of blocks/up/weight  nodes of the graph    loss
//          1                           256                 825    0.02
//          4                          1024                 825    0.03
//         16                          4096                 825    0.01
#include <meshtensor/job/main.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace network {
using mt::to, mt::nn::layer_norm, mt::nn::linear;

inline constexpr struct batch : mt::dim<"batch", 16> {} batch;
inline constexpr struct time : mt::dim<"time", 6> {} time;
inline constexpr struct layers : mt::dim<"layers"> {} layers;  // the extent is given at start-up
inline constexpr struct hidden : mt::dim<"hidden", 16> {} hidden;
inline constexpr struct next_hidden : mt::dim<"next_hidden", 16> {} next_hidden;  // a tensor has each dim only once

// The cell of Elman 1990 is tanh(W h + u · value + v · marker + b). `scan` passes its first result to the next point in
// time, and stacks its second result along time.
inline constexpr mt::layer cell = [](mt::scope auto s, auto h, auto value, auto marker) {
  auto recurrent = einsum(h, s.parameter("W", hidden, next_hidden), to(batch, next_hidden));
  auto from_value = value * s.parameter("u", hidden, mt::normal(1));
  auto from_marker = marker * s.parameter("v", hidden, mt::normal(1));
  auto next = tanh(rename(recurrent, next_hidden, hidden) + from_value + from_marker + s.parameter("b", hidden));
  return std::tuple(next, next);
};

// The residual block of He et al., arXiv:1603.05027. `repeat` gives each layer its own weights, stacked along `layers`.
inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto h = relu(linear(s / "up", layer_norm(s / "norm", x, hidden), hidden, next_hidden));
  return x + linear(s / "down", h, next_hidden, hidden);
};

// In the adding problem of Hochreiter and Schmidhuber 1997, two values of a sequence are marked. The network predicts
// their sum.
struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto value = uniform(s / "value", mt::f32, to(batch, time));  // draws new numbers in every step
    auto half = extent(time) / 2;                                 // because each half has one marked value
    auto first = floor(uniform(s / "first", mt::f32, to(batch)) * half);
    auto second = floor(uniform(s / "second", mt::f32, to(batch)) * half) + half;
    auto marker = one_hot(mt::cast<mt::i32>(first), time, mt::f32) + one_hot(mt::cast<mt::i32>(second), time, mt::f32);

    auto start = broadcast(s.parameter("start", hidden), to(batch, hidden));
    auto [last, all] = scan(s / "cell", time, start, std::tuple(value, marker), cell);
    auto h = layer_norm(s / "norm", repeat(s / "blocks", layers, last, block), hidden);
    auto predicted = einsum(h, s.parameter("predicted", hidden), to(batch));
    auto loss = mt::nn::mean_squared_error(predicted, sum(value * marker, time));
    mt::adam{.learning_rate = 0.005, .clip_norm = 1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

int compare(mt::job const& job) {
  bool learnt = true;
  mt::print(job, "layers  elements of blocks/up/weight  nodes of the graph    loss\n");
  for (int const depth : {1, 4, 16}) {
    mt::store weights(job);
    mt::executable<train_step, mt::mesh<>, mt::layout<>> step(weights, layers(depth));
    float loss = 0;
    for (int i = 0; i < 300; ++i) loss = step().get<"loss">();
    mt::print(job, "{:>6} {:>29} {:>19} {:>7.4f}\n", depth, weights.get<float>("blocks/up/weight").size(),
              step.graph().node_count, loss);
    learnt = learnt && loss < 1.f / 12;  // a network that always predicts 1 has the loss 1/6
  }
  return learnt ? 0 : 1;
}
}  // namespace network

int main(int argc, char** argv) { return mt::run_main(argc, argv, network::compare); }
