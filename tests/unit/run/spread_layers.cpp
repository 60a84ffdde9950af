// SPDX-License-Identifier: Apache-2.0
// Layers whose parameters, gradients and state are spread over the processors that share the batch, as a user sees
// them: the losses of one processor, and a share of its memory.
// passes: start-up
#include <doctest/doctest.h>

#include <vector>

#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;
using mt::to;

namespace spread {
inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct d_dim : mt::dim<"d", 32> {} d;
inline constexpr struct ff_dim : mt::dim<"ff", 96> {} ff;
inline constexpr struct layers_dim : mt::dim<"layers"> {} layers;
inline constexpr struct data_axis : mt::axis<"data"> {} data;
inline constexpr struct model_axis : mt::axis<"model"> {} model;
inline constexpr struct rounds_dim : mt::dim<"rounds", 2> {} rounds;
inline constexpr struct share_dim : mt::dim<"share", 5> {} share;
inline constexpr struct experts_dim : mt::dim<"experts", 3> {} experts;
inline constexpr struct choices_dim : mt::dim<"choices", 2> {} choices;
struct mesh : mt::mesh<data> {};
struct two_axes : mt::mesh<data, model> {};
struct whole : mt::layout<mt::shard<batch, data>> {};
/// Each layer on one processor.
struct by_layer : mt::layout<mt::shard<batch, data>, mt::shard<layers, data>> {};
/// A part of each layer on each processor; the scopes of the parameters alone, for the body computes with all of `ff`.
struct by_part : mt::layout<mt::shard<batch, data>, mt::in<"up", mt::shard<ff, data>>,
                            mt::in<"down", mt::shard<ff, data>>, mt::in<"optimizer", mt::shard<ff, data>>> {};

struct train {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, d);
    auto y = mt::repeat(s / "blocks", layers, x, [](mt::scope auto r, auto now) {
      auto up = r.parameter("up", d, ff, mt::normal(0.1));
      auto bias = r.parameter("bias", ff, mt::normal(0.1));
      return now + einsum(tanh(einsum(now, up, to(batch, ff)) + bias), r.parameter("down", ff, d, mt::normal(0.1)),
                          to(batch, d));
    });
    auto loss = mean(y * y);
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct train64 : mt::precision<train, mt::f64> {};
/// Evaluation: nothing but the slices of the layers moves.
struct evaluate {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, d);
    s.output("y", mt::repeat(s / "blocks", layers, x, [](mt::scope auto r, auto now) {
               return now + tanh(einsum(rename(now, d, ff_of_d), r.parameter("square", ff_of_d, d, mt::normal(0.1)),
                                        to(batch, d)));
             }));
  }
  static constexpr struct ff_of_d_dim : mt::dim<"ff_of_d", 32> {
  } ff_of_d{};
};

/// Layers within microbatches, one of their values watched; and sums within a layer, over another axis.
struct watched_parts {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, d);
    auto [loss, gradients] =
        mt::accumulate(s / "model", rounds, split(x, batch, to(rounds, share)), [](auto m, auto now) {
          auto y = mt::repeat(m / "blocks", layers, now, [](mt::scope auto r, auto h) {
            r.watch("seen", h);
            auto inner = tanh(einsum(h, r.parameter("up", d, ff, mt::normal(0.1)), to(share, ff)));
            return h + tanh(einsum(inner, r.parameter("down", ff, d, mt::normal(0.1)), to(share, d)));
          });
          return mean(y * y);
        });
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", gradients);
    s.output("loss", loss);
  }
};
struct routed {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, d);
    auto y = mt::repeat(s / "blocks", layers, x, [](mt::scope auto r, auto h) {
      auto [made, balance] = mt::nn::dropless_mixture_of_experts(r / "experts", h, batch, d, experts, choices, ff);
      return h + made;
    });
    auto loss = mean(y * y);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

std::vector<double> sample(int rows) {
  std::vector<double> x(static_cast<std::size_t>(rows) * 32);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (static_cast<double>(i * 37 % 101) - 50) / 50;
  return x;
}
struct trained {
  std::vector<double> losses, up;
};
template <class Layout>
trained after_steps(mt::job job, int depth, int processors) {
  mt::store weights(job);
  mt::executable<train64, mesh, Layout> step(weights, batch(10), layers(depth), data(processors));
  trained t;
  for (int k = 0; k < 4; ++k) t.losses.push_back(step(mt::feed<"x">(sample(10))).template get<"loss">());
  auto const up = weights.get<double>("blocks/up");
  for (int l = 0; l < depth; ++l)
    for (int i = 0; i < 32; ++i) t.up.push_back(up(layers(l), d(i), ff(3 * i)));
  return t;
}
template <class Layout>
mt::plan const planned(int depth, int processors) {
  auto job = mt::job::in_lockstep();
  mt::store weights(job);
  return mt::executable<train, mesh, Layout>(weights, batch(8), layers(depth), data(processors)).planned();
}
void check_close(std::vector<double> const& some, std::vector<double> const& others) {
  REQUIRE(some.size() == others.size());
  for (std::size_t i = 0; i < some.size(); ++i) CHECK(some[i] == doctest::Approx(others[i]).epsilon(1e-11));
}
}  // namespace spread
using namespace spread;

TEST_CASE("fewer and more layers than processors train as one processor does") {
  for (int depth : {1, 2, 5}) {
    trained const alone = after_steps<whole>(mt::job::as_threads(), depth, 1);
    CHECK(alone.losses.back() < alone.losses.front());
    for (int processors : {1, 2, 3, 4, 6, 8}) {
      CAPTURE(depth);
      CAPTURE(processors);
      for (bool as_threads : {true, false}) {
        auto const job = [&] { return as_threads ? mt::job::as_threads() : mt::job::in_lockstep(); };
        trained const layer = after_steps<by_layer>(job(), depth, processors);
        check_close(layer.losses, alone.losses), check_close(layer.up, alone.up);
        trained const part = after_steps<by_part>(job(), depth, processors);
        check_close(part.losses, alone.losses), check_close(part.up, alone.up);
      }
    }
  }
}

TEST_CASE("a processor holds its share, two slices of each matrix, and one layer's gradients, partial and whole") {
  std::int64_t const matrix = 32 * 96 * 4;
  for (int depth : {8, 24}) {
    mt::plan const alone = planned<whole>(depth, 1);
    for (int processors : {2, 4, 8}) {
      CAPTURE(depth);
      CAPTURE(processors);
      for (mt::plan const& p : {planned<by_layer>(depth, processors), planned<by_part>(depth, processors)}) {
        CHECK(p.variable_bytes <= alone.variable_bytes / processors + depth * 96 * 4);  // biases may be whole
        CHECK(p.arena_bytes <= alone.arena_bytes / processors + 8 * matrix);
      }
    }
  }
}

TEST_CASE("a step's bytes are those of the table in docs/layouts.md") {
  std::int64_t const matrix = 32 * 96 * 4, bias = 96 * 4;
  auto const bytes = []<class Layout>(int depth, int processors, Layout) {
    auto job = mt::job::in_lockstep();
    mt::store weights(job);
    mt::executable<train, mesh, Layout> step(weights, batch(8), layers(depth), data(processors));
    return mt::traffic_of(step.graph(), step.planned()).bytes;
  };
  for (int depth : {8, 7})
    for (int p : {2, 4}) {
      CAPTURE(depth);
      CAPTURE(p);
      std::int64_t const most = (depth + p - 1) / p, least = depth / p, steps = p / 2;  // of a small all_reduce
      std::int64_t const layer = 2 * (2 * (depth - least) * matrix + (depth + most) * matrix * (p - 1) / p);
      CHECK(bytes(depth, p, by_layer{}) == layer + (depth - least) * bias + (p - 1) * most * bias + 4 * steps);
      std::int64_t const part = 2 * 3 * depth * matrix * (p - 1) / p;
      CHECK(bytes(depth, p, by_part{}) == part + 2 * depth * bias * (p - 1) / p + 4 * steps);
      std::int64_t const alike = 2 * 2 * depth * matrix * (p - 1) / p;
      CHECK(bytes(depth, p, whole{}) == alike + (depth * bias + 4) * steps);
    }
}

TEST_CASE("slices travel, never stacks, and no more than the formula says") {
  for (int depth : {8, 7})
    for (int processors : {2, 4}) {
      CAPTURE(depth);
      CAPTURE(processors);
      auto job = mt::job::in_lockstep();
      mt::store weights(job);
      mt::executable<evaluate, mesh, by_layer> step(weights, batch(8), layers(depth), data(processors));
      // The fullest processor in bytes is the one with the fewest layers: it lacks all others.
      std::int64_t const lacks = depth - depth / processors;
      CHECK(mt::traffic_of(step.graph(), step.planned()).bytes == lacks * 32 * 32 * 4);
      mt::store others(job);
      mt::executable<evaluate, mesh, whole> alike(others, batch(8), layers(depth), data(processors));
      std::vector<float> x(8 * 32, 0.25F);
      x[5] = -2;
      auto const y = step(mt::feed<"x">(x)).get<"y">().gather();
      auto const same = alike(mt::feed<"x">(x)).get<"y">().gather();
      for (int i = 0; i < 32; ++i) CHECK(y(batch(0), d(i)) == same(batch(0), d(i)));
      std::string const text = mt::explain(step);
      CHECK_MESSAGE(text.find("all_gather") != std::string::npos, text);
      CHECK_MESSAGE(text.find("f32[ff_of_d, d]") != std::string::npos, text);          // two slices in memory
      CHECK_MESSAGE(text.find("f32[layers, ff_of_d, d]") == std::string::npos, text);  // and no stack
    }
}

TEST_CASE("layers within microbatches are gathered one by one, and may be watched") {
  struct by_share : mt::layout<mt::shard<share, data>, mt::shard<layers, data>> {};
  auto const run = [](auto layout, int processors) {
    auto job = mt::job::as_threads();
    mt::store weights(job);
    mt::executable<mt::precision<watched_parts, mt::f64>, mesh, decltype(layout)> step(weights, batch(10), layers(5),
                                                                                       data(processors));
    std::vector<double> all;
    for (int k = 0; k < 3; ++k) all.push_back(step(mt::feed<"x">(sample(10))).template get<"loss">());
    auto const seen = step.watched("model/blocks/seen");
    all.insert(all.end(), seen.begin(), seen.end());
    std::string const text = mt::explain(step);
    if (processors > 1) CHECK_MESSAGE(text.find("f32[layers, d, ff]  all_gather") == std::string::npos, text);
    return all;
  };
  auto const alone = run(mt::layout<>{}, 1);
  for (int processors : {2, 3, 6}) check_close(run(by_share{}, processors), alone);
}

TEST_CASE("within spread layers, sums over another axis are kept for the gradient") {
  struct over_both : mt::layout<mt::shard<batch, data>, mt::shard<layers, data>, mt::shard<experts, model>> {};
  auto const run = [](auto layout, int shared, int split) {
    auto job = mt::job::as_threads();
    mt::store weights(job);
    mt::executable<mt::precision<routed, mt::f64>, two_axes, decltype(layout)> step(weights, batch(10), layers(3),
                                                                                    data(shared), model(split));
    std::vector<double> all;
    for (int k = 0; k < 3; ++k) all.push_back(step(mt::feed<"x">(sample(10))).template get<"loss">());
    return all;
  };
  auto const alone = run(mt::layout<>{}, 1, 1);
  for (int split : {2, 3}) check_close(run(over_both{}, 2, split), alone);
}
