// SPDX-License-Identifier: Apache-2.0
// Small training programs with replicas, one for each policy.
#pragma once

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/regime/regime.hpp"

namespace regimes {

namespace mt = meshtensor;

inline constexpr struct replica_dim : mt::dim<"replica", 6> {} replica;
inline constexpr struct layers_dim : mt::dim<"layers", 2> {} layers;
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct width_dim : mt::dim<"width", 4> {} width;
inline constexpr struct next_dim : mt::dim<"next", width + 0> {} next;

inline constexpr mt::layer block = [](mt::scope auto s, auto x) {
  auto const w = s.parameter("w", width, next, mt::normal(0.5));
  return x + tanh(rename(einsum(x, w, mt::to(batch, next)), next, width));
};

struct train_step {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, width);
    auto const y = s.input("y", s.real(), batch);
    auto const h = mt::repeat(s / "layers", layers, x, [](mt::scope auto l, auto v) { return block(l / "block", v); });
    auto const error = sum(h * s.parameter("gain", width, mt::constant(0.5)), width) - y;
    auto const loss = mean(error * error);
    mt::adam{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
/// The same with a batch norm over the batches of all replicas.
struct train_normed {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, width);
    auto const y = s.input("y", s.real(), batch);
    auto const h = mt::nn::batch_norm(s / "norm", block(s / "block", x), width, mt::across(replica));
    auto const error = sum(h * s.parameter("gain", width, mt::constant(0.5)), width) - y;
    auto const loss = mean(error * error);
    mt::adam{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, width);
    auto const h = mt::repeat(s / "layers", layers, x, [](mt::scope auto l, auto v) { return block(l / "block", v); });
    s.output("y", sum(h * s.parameter("gain", width, mt::constant(0.5)), width));
  }
};

template <class Policy>
using train = mt::precision<mt::replicas<train_step, replica, Policy>, mt::f64>;
using pushed = mt::replicas<train_step, replica, mt::stochastic_gradient_push<mt::random_out_degrees<5>>>;

using post_local = mt::by_step<mt::first_steps<1>, mt::synchronous, mt::local_sgd<2>>;
using averaged_at_times =
    mt::by_step<mt::every_nth_step<2>, mt::local_sgd<1>, mt::stochastic_gradient_push<mt::random_out_degrees<5>>>;

struct listed_regime {
  char const* label;
  mt::name entry;
  std::unique_ptr<mt::module> (*trace)();
};
template <class Program>
listed_regime entry(char const* label) {
  return {label, mt::entry_name<Program>(),
          [] { return std::unique_ptr<mt::module>(new mt::module(mt::trace<Program>())); }};
}
inline std::vector<listed_regime> all() {
  using normed = mt::precision<mt::replicas<train_normed, replica, mt::synchronous>, mt::f64>;
  return {
      entry<train<mt::synchronous>>("synchronous"),
      entry<normed>("synchronous with a norm"),
      entry<train<mt::stochastic_gradient_push<>>>("push"),
      entry<mt::precision<pushed, mt::f64>>("irregular push"),
      entry<train<mt::overlapped_gradient_push<mt::base_graph<2>>>>("overlapped push"),
      entry<train<mt::decentralized_sgd<>>>("decentralized"),
      entry<train<mt::local_sgd<2>>>("local"),
      entry<train<mt::diloco<2>>>("diloco"),
      entry<train<mt::federated_averaging<2, 3>>>("federated"),
      entry<train<mt::biased_gradient_push<>>>("biased push"),
      entry<train<mt::no_loco<2>>>("pairs"),
      entry<train<mt::streaming_diloco<4, 2>>>("streaming"),
      entry<train<post_local>>("post-local"),
      entry<train<averaged_at_times>>("push with averages"),
      entry<train<mt::compressed<mt::top_k_values<1, 5>, mt::synchronous>>>("top-k of gradients"),
      entry<train<mt::compressed<mt::quantized<8>, post_local>>>("8 bits of post-local"),
      entry<train<mt::compressed<mt::random_k_values<2, 5>, mt::local_sgd<2>>>>("random-k of local steps"),
      entry<train<mt::compressed<mt::quantized<4>, mt::diloco<2>>>>("4 bits of outer gradients"),
      entry<train<mt::compressed<mt::quantized<8>, mt::stochastic_gradient_push<mt::directed_ring>>>>("8 bits of push"),
      entry<train<mt::compressed<mt::top_k_values<1, 5>, mt::decentralized_sgd<>>>>("top-k of gossip"),
      entry<train<mt::compressed<mt::quantized<4>, mt::stochastic_gradient_push<mt::random_matching<3>>>>>(
          "4 bits of pairs"),
      entry<mt::precision<mt::consensus<evaluate, pushed>, mt::f64>>("consensus")};
}

}  // namespace regimes
