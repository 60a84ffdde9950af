// SPDX-License-Identifier: Apache-2.0
// A mixture of experts under random layouts: noisy top_k routing with a capacity, scatter and gather, an auxiliary loss
// of load, gradients accumulated over parts of a batch; a second program evaluates the same weights.
// source: GShard, arXiv:2006.16668; Switch Transformers, arXiv:2101.03961
// timeout: 300
#include "meshtensor/meshtensor.hpp"

#include "property/random_run.hpp"

namespace {
namespace moe {
namespace mt = meshtensor;
using mt::to;
inline constexpr struct parts : mt::dim<"parts"> {} parts;
inline constexpr struct tokens : mt::dim<"tokens"> {} tokens;
inline constexpr struct d : mt::dim<"d"> {} d;
inline constexpr struct raw : mt::dim<"raw"> {} raw;
inline constexpr struct ff : mt::dim<"ff"> {} ff;
inline constexpr struct experts : mt::dim<"experts", 4> {} experts;
inline constexpr struct choices : mt::dim<"choices", 2> {} choices;
inline constexpr int capacity = 2;  // of each expert
inline constexpr struct slots : mt::dim<"slots", capacity> {} slots;
inline constexpr struct places : mt::dim<"places", experts * slots> {} places;

// Of each token: weights of its experts, their places in the experts' queues, whether there is room, the load's cost.
inline constexpr mt::layer route = [](mt::scope auto s, auto x) {
  auto noise = uniform(s / "jitter", s.real(), to(tokens, d)) * 2 - 1;
  auto seen = x * (1 + noise * s.number("jitter", 0.1));
  auto probability = softmax(einsum(seen, s.parameter("router", d, experts), to(tokens, experts)), experts);
  auto [gate, which] = top_k(probability, experts, choices);
  auto taken = one_hot(which, experts, mt::i32);
  auto wanted = sum(taken, choices);
  auto [filled, before] = mt::scan(s / "queue", tokens, sum(wanted, tokens) * 0, wanted,
                                   [](auto, auto count, auto now) { return std::tuple(count + now, count); });
  auto position = sum(before * taken, experts);
  auto room = position < capacity;
  auto place = select(room, which * capacity + position, 0);
  auto share = mean(mt::cast<s.compute>(wanted), tokens);
  auto uneven = sum(share * mean(probability, tokens)) * extent(experts);
  return std::tuple(gate / sum(gate, choices) * mt::cast<s.compute>(room), place, mt::cast<s.compute>(room), uneven,
                    filled);
};

inline constexpr mt::layer experts_of = [](mt::scope auto s, auto x) {
  auto [gate, place, room, uneven, filled] = route(s / "route", x);
  auto sent = split(scatter_add(x * room, place, places, to(places, d)), places, to(experts, slots));
  auto up = einsum(sent, s.parameter("up", experts, d, ff, mt::normal(0.5)), to(experts, slots, ff));
  auto hidden = gelu(up + s.parameter("bias", experts, ff));
  auto made = einsum(hidden, s.parameter("down", experts, ff, d, mt::normal(0.5)), to(experts, slots, d));
  auto back = gather(merge(made, to(experts, slots), places), place, places);
  return std::tuple(x + einsum(back, gate, to(tokens, d)), uneven, filled);
};

inline constexpr mt::layer model = [](mt::scope auto s, auto x) {
  auto h = mt::nn::layer_norm(s / "norm", mt::nn::linear(s / "in", x, raw, d), d);
  return experts_of(s / "experts", h);
};

struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), parts, tokens, raw);
    auto target = s.input("target", s.real(), parts, tokens, d);
    auto [loss, gradients] =
        mt::accumulate(s / "model", parts, std::tuple(x, target), [](auto m, auto now, auto wanted) {
          auto [y, uneven, filled] = model(m, now);
          return (mean((y - wanted) * (y - wanted)) + 0.01 * uneven) / extent(parts);
        });
    mt::adamw{.learning_rate = 0.01, .weight_decay = 0.1, .clip_norm = 0.5}.minimize(s / "optimizer", gradients);
    s.output("loss", loss);
  }
};
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto [y, uneven, filled] = model(s / "model", s.input("one", s.real(), tokens, raw));
    s.output("y", y);
    s.output("uneven", uneven);
    s.output("filled", filled);
  }
};
struct train64 : mt::precision<train, mt::f64> {};
struct evaluate64 : mt::precision<evaluate, mt::f64> {};
struct both : mt::programs<train64, evaluate64> {};
}  // namespace moe
}  // namespace

TEST_CASE("a mixture of experts under random layouts") {
  property::random_run run(60);
  run.each_layout(property::traced_programs<moe::both, moe::train64, moe::evaluate64>(1e-9), property::random_meshes(),
                  property::fault_on_threads);
  run.say();
  if (!run.is_asked_for()) property::at_least(60, run.counted());
}
