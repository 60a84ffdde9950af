// SPDX-License-Identifier: Apache-2.0
// Small programs with `each`, `map` and `steps` for tests of tools and devices: an ensemble, gradients of each example,
// nested loops that differ, scans that stop, and a training loop in one call.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace of_indices {

namespace mt = meshtensor;
using mt::to;

inline constexpr struct member_dim : mt::dim<"member", 4> {} member;
inline constexpr struct task_dim : mt::dim<"task", 2> {} task;
inline constexpr struct example_dim : mt::dim<"example", 6> {} example;
inline constexpr struct rounds_dim : mt::dim<"rounds", 3> {} rounds;
inline constexpr struct moments_dim : mt::dim<"moments", 5> {} moments;
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;
inline constexpr struct next_in_dim : mt::dim<"next_in", 4> {} next_in;
inline constexpr struct hidden_dim : mt::dim<"hidden", 4> {} hidden;

/// Networks that start differently, have dropout of their own, and are trained by Adam with clipped gradients.
struct ensemble {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    auto [losses, gaps] = mt::each(s / "members", member, [&](mt::scope auto m) {
      auto h = mt::nn::dropout(m / "drop", tanh(mt::nn::linear(m / "first", x, in, hidden)), 0.2);
      auto y = einsum(h, m.parameter("last", hidden, mt::normal(0.5)), to(example));
      auto loss = mt::nn::mean_squared_error(y, sum(x, in));
      mt::adam{.learning_rate = 0.05, .clip_norm = 0.5}.minimize(m / "optimizer", loss);
      auto gap = y - mean(mt::across(y, member), member);
      return std::tuple(loss, mean(gap * gap));
    });
    s.output("losses", losses), s.output("more", gaps);
  }
};

/// The gradient of each example, clipped by its norm; their mean and noise train the parameters, which all share.
struct private_gradients {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), example, in);
    auto w = s.parameter("w", in, hidden, mt::normal(0.5));
    auto b = s.parameter("b", hidden, mt::normal(0.5));
    auto [losses, norms, by_w, by_b] = mt::map(s / "examples", example, x, [&](mt::scope auto, auto one) {
      auto y = tanh(einsum(one, w, to(hidden)) + b) - 0.5;
      auto loss = sum(y * y);
      auto [dw, db] = gradient(loss, w, b);
      auto norm = sqrt(sum(dw * dw) + sum(db * db));
      auto factor = 1 / maximum(1, norm / 0.5);
      return std::tuple(loss, norm, dw * factor, db * factor);
    });
    s.update(w, w - 0.1 * (mean(by_w, example) + 0.01 * normal(s / "noise", s.real(), to(in, hidden))));
    s.update(b, b - 0.1 * mean(by_b, example));
    s.output("losses", losses), s.output("more", norms);
  }
};

/// Tasks with weights of their own, and examples in them that iterate and branch by their own conditions.
struct settling {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), task, example, in);
    auto [losses, counts] = mt::each(s / "tasks", task, x, [](mt::scope auto m, auto own) {
      auto w = m.parameter("w", in, next_in, mt::normal(0.5));
      auto [each, n] = mt::map(m / "examples", example, own, [&](mt::scope auto e, auto one) {
        auto settled = mt::while_loop(
            e / "settle", mt::at_most(6), [](auto, auto v) { return max(abs(v)) > 0.3; },
            [&](auto, auto v) { return rename(tanh(einsum(v, w, to(next_in))), next_in, in) * 0.9; }, one);
        auto h = std::get<1>(settled);
        auto size = sum(one * w);  // of [in, next_in]
        auto loss = mt::cond(
            e / "way", size > 0, [&](auto) { return log(1 + size) + sum(h * h); }, [&](auto) { return sum(h * h); });
        return std::tuple(loss, std::get<0>(settled));
      });
      auto loss = mean(each);
      mt::momentum{.learning_rate = 0.05}.minimize(m / "optimizer", loss);
      return std::tuple(loss, mt::cast(mean(mt::cast(n, m.real())), m.real()));
    });
    s.output("losses", losses), s.output("more", counts);
  }
};

/// Sequences that each stop at their own moment.
struct stopping {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), member, moments, in);
    auto w = s.parameter("w", in, mt::normal(1));
    auto [ends, sums] = mt::map(s / "members", member, x, [&](mt::scope auto m, auto own) {
      auto [end, seen] = mt::scan(
          m / "moments", moments, mt::full(m, 0.25, m.real()), own,
          [&](mt::scope auto r, auto h, auto now) {
            auto next = h + tanh(sum(now * w)) + 0.05 * normal(r / "push", m.real(), to());
            return std::tuple(next, next * next);
          },
          mt::until{[](auto, auto h) { return abs(h) > 0.6; }, -1});
      return std::tuple(end, sum(seen, moments));
    });
    mt::adam{.learning_rate = 0.02}.minimize(s / "optimizer", mean(ends * ends) + 0.1 * mean(sums));
    s.output("losses", ends), s.output("more", sums);
  }
};

/// Some steps of `private_gradients` in one call.
struct rounds_of_training {
  constexpr void operator()(mt::scope auto s) const { mt::steps(s, rounds, private_gradients{}, mt::every_step); }
};

inline constexpr struct ranks_axis : mt::axis<"ranks"> {} ranks;
struct mesh : mt::mesh<ranks> {};
struct by_member : mt::layout<mt::shard<member, ranks>> {};
struct by_task : mt::layout<mt::shard<task, ranks>> {};
struct by_example : mt::layout<mt::shard<example, ranks>> {};
struct by_in : mt::layout<mt::shard<in, ranks>> {};

/// Numbers to feed in a step, and how many of them a program takes.
inline std::vector<double> waves(std::size_t count, int step = 0) {
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = std::sin(0.7 * static_cast<double>(i) + 0.3 + step);
  return all;
}
template <class Program>
constexpr std::size_t fed = 6 * 4;
template <>
inline constexpr std::size_t fed<settling> = 2 * 6 * 4;
template <>
inline constexpr std::size_t fed<stopping> = 4 * 5 * 4;
template <>
inline constexpr std::size_t fed<rounds_of_training> = 3 * 6 * 4;

template <class Program>
struct in_f64 : mt::precision<Program, mt::f64> {};

/// Runs some steps of an executable of `in_f64<Program>`: the outputs of all steps, then every f64 of the store.
template <class Program, class Step>
std::vector<double> outcome_of(Step& step, mt::store& weights, int steps = 3) {
  std::vector<double> all;
  auto const add = [&](auto const& a) { all.insert(all.end(), a.data(), a.data() + a.size()); };
  for (int i = 0; i < steps; ++i) {
    auto const r = step(mt::feed<"x">(waves(fed<Program>, i)));
    add(r.template get<"losses">().gather()), add(r.template get<"more">().gather());
  }
  for (std::string const& name : weights.names())
    if (weights.values().at(name).type == mt::dtype::f64) add(weights.get<double>(name));
  return all;
}

/// Runs some steps on ranks in lockstep.
template <class Program, class Layout, class Device>
std::vector<double> results(int size) {
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job, 7);
  mt::executable<in_f64<Program>, mesh, Layout, Device> step(weights, ranks(size));
  return outcome_of<Program>(step, weights);
}

/// The first numbers that differ by more than a tolerance, or nothing.
inline std::string difference(std::vector<double> const& a, std::vector<double> const& b, double tolerance) {
  if (a.size() != b.size() || a.empty())
    return std::to_string(a.size()) + " and " + std::to_string(b.size()) + " numbers";
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance))
      return "number " + std::to_string(i) + ": " + std::to_string(a[i]) + " and " + std::to_string(b[i]);
  return "";
}

}  // namespace of_indices
