// SPDX-License-Identifier: Apache-2.0
// Static programs for steps that the compiler writes out, and their comparison with the engine that reads a list.
#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace compiled_steps {

namespace mt = meshtensor;
using mt::to;

inline constexpr struct batch_dim : mt::dim<"batch", 12> {} batch;
inline constexpr struct odd_dim : mt::dim<"odd", 7> {} odd;
inline constexpr struct parts_dim : mt::dim<"parts", 3> {} parts;
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
inline constexpr struct hidden_dim : mt::dim<"hidden", 8> {} hidden;
inline constexpr struct layers_dim : mt::dim<"layers", 4> {} layers;
inline constexpr struct rows_dim : mt::dim<"rows", 12> {} rows;
inline constexpr struct reach_dim : mt::dim<"reach", 3> {} reach;
inline constexpr struct channels_dim : mt::dim<"channels", 2> {} channels;

/// README's program.
struct two_layers {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = einsum(tanh(mt::nn::linear(s / "first", x, in, hidden)), s.parameter("last", hidden), mt::to(batch));
    auto loss = mt::nn::mean_squared_error(y, sum(x, in));
    mt::adam{.learning_rate = s.number("learning_rate", 0.05)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("y", y);
  }
};

/// Layers in a loop and its gradient, with random numbers; a batch that no mesh divides.
struct stacked_layers {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, odd, in);
    auto y = repeat(s / "blocks", layers, x, [](mt::scope auto r, auto h) {
      return h + mt::nn::dropout(r / "drop", mt::nn::feed_forward(r, mt::nn::rms_norm(r / "norm", h, in), in, hidden),
                                 r.number("dropout", 0.1));
    });
    auto loss = mt::nn::mean_squared_error(y, x * 0.5);
    mt::adam{.learning_rate = 1e-2}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("y", y);
  }
};

/// Gradients that are added up over the parts of a batch.
struct in_parts {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, parts, odd, in);
    auto [loss, gradients] = mt::accumulate(s / "model", parts, x, [](mt::scope auto m, auto part) {
      auto y = mt::nn::linear(m / "out", tanh(mt::nn::linear(m / "in", part, in, hidden)), hidden, in);
      return mt::nn::mean_squared_error(y, part);
    });
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", gradients);
    s.output("loss", loss);
  }
};

/// A convolution along a dim that is cut, so that ranks exchange what their windows reach, and a slice.
struct windows {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows, in);
    auto const over = mt::window(rows, rows, reach, {.padding = mt::centred_padding});
    auto y = tanh(mt::nn::convolution(s / "conv", x, in, channels, over));
    auto loss = mean(y * y) + mean(y);
    mt::sgd{.learning_rate = 0.1}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("y", y);
  }
};

template <std::int64_t Data, std::int64_t Model>
struct on {
  static constexpr struct data_axis : mt::axis<"data", Data> {
  } data{};
  static constexpr struct model_axis : mt::axis<"model", Model> {
  } model{};
  struct mesh : mt::mesh<data, model> {};
  struct layout : mt::layout<mt::shard<batch, data>, mt::shard<odd, data>, mt::shard<rows, data>,
                             mt::shard<hidden, model>, mt::in<"optimizer", mt::shard<in, data>>> {};
  /// The layers of a stack are spread, too: each travels to all when its iteration needs it.
  struct spread : mt::layout<mt::shard<odd, data>, mt::shard<layers, data>, mt::shard<hidden, model>> {};
};

inline std::vector<float> numbers(std::size_t count) {
  std::vector<float> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<float>((i * 37 + 11) % 101) / 101.0f - 0.4f;
  return all;
}

/// Every value of a store, whole.
inline std::vector<std::vector<float>> all_values(mt::store& values) {
  std::vector<std::vector<float>> all;
  for (std::string const& name : values.names()) {
    auto const whole = values.get<float>(name);
    all.emplace_back(whole.data(), whole.data() + whole.size());
  }
  return all;
}

/// Trains by both for some steps: losses and every value of the store are equal, bit for bit.
template <class Program, class Mesh, class Layout, class Device>
void check_same(mt::job const& job, mt::job const& of_other, std::size_t fed) {
  using compiled = mt::compiled_step<Program, Mesh, Layout, Device>;
  using read = mt::executable<Program, Mesh, Layout, Device>;
  static_assert(compiled::is_unrolled == mt::early && !read::is_unrolled);
  mt::store here(job), there(of_other);
  compiled step(here);
  read other(there);
  std::vector<float> const x = numbers(fed);
  float first = 0, last = 0;
  for (int i = 0; i < 5; ++i) {
    last = step(mt::feed<"x">(x)).template get<"loss">();
    float const expected = other(mt::feed<"x">(x)).template get<"loss">();
    CHECK(std::memcmp(&last, &expected, sizeof last) == 0);
    if (i == 0) first = last;
  }
  CHECK(last < first);
  CHECK(all_values(here) == all_values(there));
}

template <class On, class Device>
void check_all(mt::job const& job) {
  check_same<two_layers, typename On::mesh, typename On::layout, Device>(job, job, 12 * 4);
  check_same<stacked_layers, typename On::mesh, typename On::layout, Device>(job, job, 7 * 4);
  check_same<stacked_layers, typename On::mesh, typename On::spread, Device>(job, job, 7 * 4);
  check_same<in_parts, typename On::mesh, typename On::layout, Device>(job, job, 3 * 7 * 4);
  check_same<windows, typename On::mesh, typename On::layout, Device>(job, job, 12 * 4);
}

}  // namespace compiled_steps
