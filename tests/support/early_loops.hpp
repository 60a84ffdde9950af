// SPDX-License-Identifier: Apache-2.0
// Training steps with loops that may end early: alone, in each other and in loops over layers. An input says how many
// iterations run.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace early_loops {

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 6> {} batch;
inline constexpr struct inner : mt::dim<"inner", 4> {} inner;
inline constexpr struct inner_2 : mt::dim<"inner_2", 4> {} inner_2;
inline constexpr struct layers : mt::dim<"layers", 3> {} layers;
inline constexpr struct twice : mt::dim<"twice", 2> {} twice;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
struct by_batch : mt::layout<mt::shard<batch, data>> {};
struct by_both : mt::layout<mt::shard<batch, data>, mt::shard<inner, model>> {};
/// Parameters, too, are in parts, which are gathered in each iteration.
struct in_parts : mt::layout<mt::shard<batch, data>, mt::shard<inner, model>, mt::shard<layers, data>> {};

inline constexpr int limit = 4;

inline constexpr auto weights = [](mt::scope auto s) { return s.parameter("w", inner, inner_2, mt::normal(0.5)); };
/// Ends the program with a loss and its minimization.
inline constexpr auto trains = [](mt::scope auto s, auto const& h, auto const& count) {
  auto const loss = mean(h * h);
  mt::adam{.learning_rate = 0.05}.minimize(s / "optimizer", loss);
  s.output("loss", loss), s.output("count", count), s.output("h", h);
};

/// A loop of up to four iterations.
struct one {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, inner);
    auto const n = s.input("n", mt::i64);
    auto const w = weights(s);
    auto const [count, last, y] = while_loop(
        s / "grow", mt::at_most(limit), [&](auto, auto k, auto) { return k < n; },
        [&](auto, auto k, auto h) { return std::tuple(k + 1, tanh(sum_over(h, w)) + x); }, n * 0, x);
    trains(s, y, count);
  }
  static constexpr auto sum_over(auto const& h, auto const& w) {
    return rename(einsum(h, w, mt::to(batch, inner_2)), inner_2, inner) - mean(h, batch);
  }
};

/// Loops in a loop: the inner one runs as often as the outer one has, and then one of two branches.
struct nested {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, inner);
    auto const n = s.input("n", mt::i64);
    auto const w = weights(s);
    auto const [count, last, y] = while_loop(
        s / "outer", mt::at_most(limit), [&](auto, auto k, auto) { return k < n; },
        [&](auto r, auto k, auto h) {
          auto const z = std::get<2>(while_loop(
              r / "inner", mt::at_most(limit - 2), [&](auto, auto j, auto) { return j < k; },
              [&](auto, auto j, auto g) { return std::tuple(j + 1, sin(one::sum_over(g, w))); }, k * 0, h));
          return std::tuple(k + 1, cond(
                                       r / "sign", sum(z) > 0, [&](auto) { return z * 0.5 + x; },
                                       [&](auto) { return one::sum_over(z, w) - x; }));
        },
        n * 0, x);
    trains(s, y, count);
  }
};

/// In each of three layers a loop of its own, with random numbers and a loop in it that does not end early; each layer
/// runs one iteration less than the one before.
struct in_layers {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, inner);
    auto const n = s.input("n", mt::i64);
    auto const [last, end] = repeat(s / "layers", layers, std::tuple(n, x), [&](auto r, auto left, auto h) {
      auto const w = weights(r);
      auto const [trips, last_k, z] = while_loop(
          r / "grow", mt::at_most(limit), [&](auto, auto k, auto) { return k < left; },
          [&](auto q, auto k, auto g) {
            auto const y = repeat(q / "twice", twice, g, [&](auto, auto f) { return sin(one::sum_over(f, w)); });
            return std::tuple(k + 1, mt::nn::dropout(q / "dropout", y + x, 0.2));
          },
          left * 0, h);
      return std::tuple(left - 1, z * 0.5 + h);
    });
    trains(s, end, last);
  }
};

/// How many iterations run, step by step: none, some, all, and more than there may be.
inline constexpr std::int64_t counts[] = {2, 0, 3, 1, 4, 9, 2, 4, 0};

template <class Program, class Layout, class Device>
using executable = mt::executable<mt::precision<Program, mt::dtype::f64>, mesh, Layout, Device>;

/// The loss, the count and what this process holds of the last carry.
template <class Step>
std::vector<double> one_step(Step& step, std::int64_t n) {
  std::vector<double> x(6 * 4);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.7 * static_cast<double>(i) + 0.3);
  auto const given = step(mt::feed<"x">(x), mt::feed<"n">(n));
  std::vector<double> all{given.template get<"loss">(), static_cast<double>(given.template get<"count">())};
  for (double v : given.template get<"h">().gather()) all.push_back(v);
  return all;
}
/// The same of all steps, and the parameters; `each(step, number)` is called before each of them.
template <class Program, class Layout, class Device>
std::vector<double> all_steps(mt::job const& job, int data_size, int model_size, auto const& each) {
  mt::store values(job, 5);
  executable<Program, Layout, Device> step(values, data(data_size), model(model_size));
  std::vector<double> all;
  int number = 0;
  for (std::int64_t n : counts) {
    each(step, number++);
    for (double v : one_step(step, n)) all.push_back(v);
  }
  for (auto const& [path, value] : values.values())
    for (double v : values.template get<double>(path)) all.push_back(v);
  return all;
}

}  // namespace early_loops
