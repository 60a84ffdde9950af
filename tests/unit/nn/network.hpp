// SPDX-License-Identifier: Apache-2.0
// Checks a network with parameters: the gradients of all of them, and of its input, against finite differences and
// against the same network written in plain operations.
#pragma once

#include "meshtensor/nn/sgd.hpp"
#include "unit/op/trial.hpp"

namespace small_network {

namespace mt = meshtensor;

inline constexpr struct batch_dim : mt::dim<"batch", 2> {} batch;
inline constexpr struct length_dim : mt::dim<"length", 3> {} length;
inline constexpr struct memory_dim : mt::dim<"memory", 3> {} memory;
inline constexpr struct model_dim : mt::dim<"model", 4> {} model;
inline constexpr struct heads_dim : mt::dim<"heads", 2> {} heads;
inline constexpr struct head_dim : mt::dim<"head", 3> {} head;
inline constexpr struct hidden_dim : mt::dim<"hidden", 5> {} hidden;
inline constexpr struct classes_dim : mt::dim<"classes", 6> {} classes;

/// A network f(s, x, chosen) of x [batch, length, model] and integers [batch, length], with a loss that weighs all that
/// it gives differently. Gradient descent with rate 1 makes every gradient visible: what a parameter loses.
template <class F>
struct descended {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, batch, length, model);
    auto const chosen = s.input("chosen", mt::i32, batch, length);
    auto const made = F{}(s, x, chosen);
    auto const loss = sum(made * (made * 0.5 + 0.3));
    s.output("made", made);
    s.output("loss", loss);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = s.number("rate", 1)}.minimize(s / "optimizer", loss);
  }
};

template <class F>
trial::program of(F) {
  trial::program p = trial::program::of<mt::precision<descended<F>, mt::dtype::f64>>();
  p.fill_at_random(-1, 1);
  trial::stream s{7};
  mt::block& chosen = p.inputs.at("chosen");
  for (std::int64_t i = 0; i < chosen.size(); ++i) chosen.set(i, std::floor(s.between(0, 6)));
  return p;
}

/// Every parameter away from where it starts, gains and biases included.
inline mt::blocks stirred(trial::program& p) {
  p.settings.named["rate"] = 0;
  p.run();
  p.settings.named.clear();
  trial::stream s{3};
  for (auto& [name, b] : p.variables)
    for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, b.number_at(i) + s.between(-0.3, 0.3));
  return p.variables;
}

/// Runs one step from `variables` without keeping what it changes.
inline mt::blocks outcome(trial::program& p, mt::blocks const& variables, mt::blocks* after = nullptr) {
  p.variables = variables;
  p.settings.step = 0;
  mt::blocks const outputs = p.run();
  if (after != nullptr) *after = p.variables;
  return outputs;
}

inline void check_derivative(trial::program& p, mt::blocks const& from, mt::block& moved, std::int64_t i,
                             double derivative) {
  constexpr double step = 1e-5;
  double const here = moved.number_at(i);
  moved.set(i, here + step);
  double const above = outcome(p, from).at("loss").number_at(0);
  moved.set(i, here - step);
  double const below = outcome(p, from).at("loss").number_at(0);
  moved.set(i, here);
  double const wanted = (above - below) / (2 * step);
  CHECK(std::abs(derivative - wanted) <= 1e-6 * (1 + std::abs(wanted)));
}

/// Every gradient against a central difference.
template <class F>
void check_gradients(char const* what, F f) {
  INFO(std::string(what));
  trial::program p = of(f);
  mt::blocks variables = stirred(p), after;
  mt::blocks const given = outcome(p, variables, &after);
  for (auto& [name, b] : variables)
    for (std::int64_t i = 0; i < b.size(); ++i) {
      INFO(name << "[" << i << "]");
      check_derivative(p, variables, b, i, b.number_at(i) - after.at(name).number_at(i));
    }
  mt::block const dx = given.at("dx");
  for (std::int64_t i = 0; i < dx.size(); ++i) {
    INFO("x[" << i << "]");
    check_derivative(p, variables, p.inputs.at("x"), i, dx.number_at(i));
  }
}

inline void check_alike(mt::blocks const& got, mt::blocks const& wanted) {
  for (auto const& [name, b] : wanted) {
    INFO(name);
    REQUIRE(got.count(name) == 1);
    REQUIRE(got.at(name).size() == b.size());
    double worst = 0;
    for (std::int64_t i = 0; i < b.size(); ++i)
      worst = std::max(worst, std::abs(got.at(name).number_at(i) - b.number_at(i)) / (1 + std::abs(b.number_at(i))));
    CHECK(worst <= 1e-12);
  }
}

/// Two ways to write one network: the same results and the same gradients, to rounding.
template <class F, class G>
void check_same(char const* what, F f, G g) {
  INFO(std::string(what));
  trial::program p = of(f), q = of(g);
  mt::blocks variables = stirred(p), after_p, after_q;
  mt::blocks const by_p = outcome(p, variables, &after_p), by_q = outcome(q, variables, &after_q);
  CHECK(after_p.size() == after_q.size());
  check_alike(by_p, by_q);
  check_alike(after_p, after_q);
}

}  // namespace small_network
