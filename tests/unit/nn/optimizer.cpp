// SPDX-License-Identifier: Apache-2.0
// Optimizers, step by step, against the formulas of their papers written for one number after another.
#include "meshtensor/nn/optimizer.hpp"

#include <functional>

#include "meshtensor/nn/adafactor.hpp"
#include "meshtensor/nn/adam.hpp"
#include "meshtensor/nn/average.hpp"
#include "meshtensor/nn/lars.hpp"
#include "meshtensor/nn/sgd.hpp"
#include "meshtensor/op/control.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using trial::program;

namespace {

inline constexpr struct element_dim : mt::dim<"element", 3> {} element;

/// Minimizes Σ (w − x)⁴ + (b − 2)², whose gradients are 4 (w − x)³ and 2 (b − 2).
template <class How>
struct fitted {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, element);
    auto const w = s.parameter("w", element, mt::constant(0.25));
    auto const b = s.parameter("b");
    auto const d = w - x;
    auto const loss = sum(d * d * d * d) + (b - 2) * (b - 2);
    s.output("loss", loss);
    How{}(s).minimize(s / "optimizer", loss);
  }
};

constexpr int count = 4;  // numbers that change: three of w, then b

struct reference {
  double p[count] = {0.25, 0.25, 0.25, 0}, m[count] = {}, v[count] = {};
  double x[3] = {-0.5, 0.75, 1.5};

  void step(std::function<double(reference&, int, double)> const& change, double clip = 0) {
    double g[count], squares = 0;
    for (int i = 0; i < count; ++i) {
      g[i] = i < 3 ? 4 * std::pow(p[i] - x[i], 3) : 2 * (p[3] - 2);
      squares += g[i] * g[i];
    }
    double const factor = clip == 0 ? 1 : std::min(1.0, clip / std::sqrt(squares));
    for (int i = 0; i < count; ++i) p[i] -= change(*this, i, g[i] * factor);
  }
};

template <class How>
program fit(How) {
  program p = program::of<mt::precision<fitted<How>, mt::dtype::f64>>();
  p.fill("x", {-0.5, 0.75, 1.5});
  return p;
}

void check(program& p, reference const& r, int step) {
  INFO("step " << step);
  for (int i = 0; i < count; ++i) {
    double const got = i < 3 ? p.variables.at("w").number_at(i) : p.variables.at("b").number_at(0);
    CHECK(std::abs(got - r.p[i]) <= 1e-13 * (1 + std::abs(r.p[i])));
  }
}

void follow(program p, std::function<double(reference&, int, double)> const& change, double clip = 0) {
  reference r;
  for (int step = 1; step <= 30; ++step) {
    p.run();
    r.step(change, clip);
    check(p, r, step);
  }
}

std::function<double(reference&, int, double)> adam(double rate, double b1, double b2, double epsilon,
                                                    double decay = 0) {
  return [=, t = 0](reference& r, int i, double g) mutable {
    if (i == 0) ++t;
    r.m[i] = b1 * r.m[i] + (1 - b1) * g;
    r.v[i] = b2 * r.v[i] + (1 - b2) * g * g;
    double const m = r.m[i] / (1 - std::pow(b1, t)), v = r.v[i] / (1 - std::pow(b2, t));
    return rate * (m / (std::sqrt(v) + epsilon) + decay * r.p[i]);
  };
}

}  // namespace

TEST_CASE("sgd") {
  follow(fit([](auto) { return mt::sgd{.learning_rate = 0.01}; }), [](reference&, int, double g) { return 0.01 * g; });
}

TEST_CASE("momentum, plain and Nesterov's") {
  auto const heavy = [](reference& r, int i, double g) { return 0.01 * (r.m[i] = 0.8 * r.m[i] + g); };
  auto const ahead = [](reference& r, int i, double g) {
    r.m[i] = 0.8 * r.m[i] + g;
    return 0.01 * (g + 0.8 * r.m[i]);
  };
  follow(fit([](auto) { return mt::momentum{.learning_rate = 0.01, .decay = 0.8}; }), heavy);
  follow(fit([](auto) { return mt::momentum{.learning_rate = 0.01, .decay = 0.8, .nesterov = true}; }), ahead);
}

TEST_CASE("adam") {
  follow(fit([](auto) { return mt::adam{}; }), adam(1e-3, 0.9, 0.999, 1e-8));
  follow(fit([](auto) { return mt::adam{.learning_rate = 0.05, .beta_1 = 0.5, .beta_2 = 0.7, .epsilon = 0.1}; }),
         adam(0.05, 0.5, 0.7, 0.1));
}

TEST_CASE("adamw") {
  follow(fit([](auto) { return mt::adamw{.learning_rate = 0.05, .weight_decay = 0.3}; }),
         adam(0.05, 0.9, 0.999, 1e-8, 0.3));
}

TEST_CASE("gradients are clipped by their common length") {
  follow(
      fit([](auto) { return mt::sgd{.learning_rate = 0.1, .clip_norm = 0.5}; }),
      [](reference&, int, double g) { return 0.1 * g; }, 0.5);
  follow(fit([](auto) { return mt::adam{.learning_rate = 0.1, .clip_norm = 2}; }), adam(0.1, 0.9, 0.999, 1e-8), 2);
}

TEST_CASE("hyper-parameters are set by name, without another program") {
  program p = fit([](auto s) {
    return mt::adam{.learning_rate = s.number("learning_rate", 1e-3), .beta_1 = s.number("beta_1", 0.9)};
  });
  p.settings.named = {{"learning_rate", 0.02}, {"beta_1", 0.6}};
  follow(std::move(p), adam(0.02, 0.6, 0.999, 1e-8));
}

TEST_CASE("state is named after the parameter") {
  program p = fit([](auto) { return mt::adam{}; });
  p.run();
  CHECK(p.variables.count("optimizer/w/m") == 1);
  CHECK(p.variables.count("optimizer/b/v") == 1);
  CHECK(p.variables.size() == 6);
}

namespace {

inline constexpr mt::layer network = [](mt::scope auto s, auto x) { return x * s.parameter("w", element, mt::ones); };

/// Two networks, two losses, two optimizers: each changes its own, though one loss depends on both.
struct two_networks {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, element);
    auto const left = network(s / "left", x);
    auto const right = network(s / "right", left);
    mt::sgd{.learning_rate = 1}.minimize(s / "optimizer_left", sum(left), s / "left");
    mt::sgd{.learning_rate = 1}.minimize(s / "optimizer_right", sum(right * right), s / "right");
  }
};

}  // namespace

TEST_CASE("an optimizer that is given a scope changes what is declared under it") {
  program p = program::of<two_networks>();
  p.fill("x", {1, 2, 3});
  p.run();
  CHECK(trial::numbers_of(p.variables.at("left/w")) == std::vector<double>{0, -1, -2});
  CHECK(trial::numbers_of(p.variables.at("right/w")) == std::vector<double>{-1, -7, -17});
}

namespace {

/// A loss of `used`, of an average of it as a target, and of a table that only an index is read from; not of `apart`.
struct of_some_parameters {
  constexpr void operator()(mt::scope auto s) const {
    auto const weights = mt::layer([](mt::scope auto r) { return r.parameter("w", element, mt::ones); });
    auto const w = weights(s / "used");
    auto const target = stop_gradient(weights(s / "target"));
    auto const chosen = mt::cast<mt::f64>(argmax(s.parameter("table", element, mt::ones), element));
    s.output("apart", s.parameter("apart", element, mt::ones));
    auto const loss = sum((w - target / 2) * (w - target / 2)) + chosen;
    mt::adamw{.learning_rate = 0.25, .weight_decay = 0.5}.minimize(s / "optimizer", loss);
    mt::moving_average{.decay = 0.5}.follow(s / "target", s / "used");
  }
};

}  // namespace

TEST_CASE("an optimizer changes the parameters that its loss has a gradient by, and no others") {
  program p = program::of<mt::precision<of_some_parameters, mt::dtype::f64>>();
  p.run();
  std::vector<double> const ones{1, 1, 1};
  CHECK(trial::numbers_of(p.variables.at("apart")) == ones);
  CHECK(trial::numbers_of(p.variables.at("table")) == ones);
  CHECK(p.variables.contains("optimizer/used/w/m"));
  for (char const* label : {"optimizer/apart/m", "optimizer/table/m", "optimizer/target/w/m"})
    CHECK(!p.variables.contains(label));
  double const used = 1 - 0.25 * (1 + 0.5);  // Adam's first step goes as far as its rate says
  CHECK(p.variables.at("used/w").number_at(0) == doctest::Approx(used).epsilon(1e-7));
  CHECK(p.variables.at("target/w").number_at(0) == doctest::Approx(used).epsilon(1e-7));
}

namespace {

inline constexpr struct rows_dim : mt::dim<"rows", 3> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns", 2> {} columns;
inline constexpr struct loops_dim : mt::dim<"loops", 2> {} loops;

/// A matrix for each iteration of a loop, and a vector: Σ over iterations of Σ (w − x)⁴, and Σ (b − x)⁴ / 2.
template <class How>
struct by_layers {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, rows, columns);
    auto const start = sum(x) * 0;
    auto const far = repeat(s / "loop", loops, start, [&](mt::scope auto r, auto before) {
      auto const d = r.parameter("w", rows, columns, mt::constant(0.5)) * (mt::iota(r, rows, mt::f64) + 1) - x;
      return before * 1.5 + sum(d * d * d * d);
    });
    auto const d = s.parameter("b", columns, mt::constant(0.25)) - sum(x, rows);
    auto const loss = far + sum(d * d * d * d) / 2;
    How{}(s).minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};

/// The parameters of that program, the matrices first, then the vector, and the gradients by them.
struct layers {
  double x[6] = {-0.5, 0.75, 1.5, 0.3, -1.2, 0.1};
  double p[3][6], g[3][6] = {};

  layers() {
    std::fill_n(&p[0][0], 12, 0.5);
    std::fill_n(p[2], 6, 0.25);
  }
  static int size(int which) { return which < 2 ? 6 : 2; }
  void differentiate() {
    for (int l = 0; l < 2; ++l)
      for (int i = 0; i < 6; ++i)
        g[l][i] = 4 * std::pow(p[l][i] * (i / 2 + 1) - x[i], 3) * (i / 2 + 1) * (l == 0 ? 1.5 : 1);
    for (int i = 0; i < 2; ++i) g[2][i] = 2 * std::pow(p[2][i] - (x[i] + x[2 + i] + x[4 + i]), 3);
  }
  void check(program const& of) const {
    for (int i = 0; i < 12; ++i)
      CHECK(of.variables.at("loop/w").number_at(i) == doctest::Approx((&p[0][0])[i]).epsilon(1e-11));
    for (int i = 0; i < 2; ++i) CHECK(of.variables.at("b").number_at(i) == doctest::Approx(p[2][i]).epsilon(1e-11));
  }
};
template <class How>
program of_layers(How) {
  program p = program::of<mt::precision<by_layers<How>, mt::dtype::f64>>();
  layers const given;
  p.fill("x", {given.x, given.x + 6});
  return p;
}
/// Thirty steps beside change(parameter, its gradient, their number).
template <class How, class F>
void follow_layers(How how, F change) {
  program p = of_layers(how);
  layers wanted;
  for (int t = 1; t <= 30; ++t) {
    p.run();
    wanted.differentiate();
    for (int l = 0; l < 3; ++l) change(l, wanted.p[l], wanted.g[l], layers::size(l), t);
    wanted.check(p);
  }
}

/// Shazeer and Stern's algorithms 4 and 5, for a matrix of 3 x 2 and a vector of 2.
struct written_out {
  double row[3] = {}, column[2] = {}, v[2] = {};
  static double root_mean_square(double const* x, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    return std::sqrt(sum / n);
  }
  static void move(double* p, double* u, int n) {
    double const longest = std::max(1.0, root_mean_square(u, n)), scale = std::max(1e-3, root_mean_square(p, n));
    for (int i = 0; i < n; ++i) p[i] -= 0.1 * scale * u[i] / longest;
  }
  void matrix(double* p, double const* g, int t) {
    double const kept = 1 - std::pow(t, -0.8);
    double sums[3] = {}, others[2] = {}, total = 0, u[6];
    for (int i = 0; i < 6; ++i) sums[i / 2] += g[i] * g[i] + 1e-12, others[i % 2] += g[i] * g[i] + 1e-12;
    for (int i = 0; i < 3; ++i) total += row[i] = kept * row[i] + (1 - kept) * sums[i] / 2;
    for (int i = 0; i < 2; ++i) column[i] = kept * column[i] + (1 - kept) * others[i] / 3;
    for (int i = 0; i < 6; ++i) u[i] = g[i] / std::sqrt(row[i / 2] * column[i % 2] / (total / 3));
    move(p, u, 6);
  }
  void vector(double* p, double const* g, int t) {
    double const kept = 1 - std::pow(t, -0.8);
    double u[2];
    for (int i = 0; i < 2; ++i) {
      v[i] = kept * v[i] + (1 - kept) * (g[i] * g[i] + 1e-12);
      u[i] = g[i] / std::sqrt(v[i]);
    }
    move(p, u, 2);
  }
};

}  // namespace

TEST_CASE("adafactor") {
  auto const how = [](auto) { return mt::adafactor{.learning_rate = 0.1, .epsilon = 1e-12}; };
  written_out of[3];
  follow_layers(how, [&](int l, double* p, double const* g, int, int t) {
    if (l < 2) of[l].matrix(p, g, t);
    else of[l].vector(p, g, t);
  });
  program p = of_layers(how);
  p.run();
  CHECK(p.variables.at("optimizer/loop/w/rows").size() == 6);
  CHECK(p.variables.at("optimizer/loop/w/columns").size() == 4);
}

TEST_CASE("weight decay as a part of the gradient, of all parameters or of matrices") {
  double v[3][6] = {};
  follow_layers([](auto s) { return mt::sgd{.learning_rate = 1e-3, .weight_decay = s.number("decay", 0.3)}; },
                [&](int, double* p, double const* g, int n, int) {
                  for (int i = 0; i < n; ++i) p[i] -= 1e-3 * (g[i] + 0.3 * p[i]);
                });
  follow_layers(
      [](auto) {
        return mt::momentum{
            .learning_rate = 1e-3, .nesterov = true, .weight_decay = 0.3, .decayed = mt::decayed::matrices};
      },
      [&](int l, double* p, double const* g, int n, int) {
        for (int i = 0; i < n; ++i) {
          double const derivative = g[i] + (l < 2 ? 0.3 * p[i] : 0);
          v[l][i] = 0.9 * v[l][i] + derivative;
          p[i] -= 1e-3 * (derivative + 0.9 * v[l][i]);
        }
      });
}

TEST_CASE("decoupled weight decay of matrices") {
  double m[3][6] = {}, v[3][6] = {};
  follow_layers(
      [](auto) { return mt::adamw{.learning_rate = 0.05, .weight_decay = 0.5, .decayed = mt::decayed::matrices}; },
      [&](int l, double* p, double const* g, int n, int t) {
        for (int i = 0; i < n; ++i) {
          m[l][i] = 0.9 * m[l][i] + 0.1 * g[i], v[l][i] = 0.999 * v[l][i] + 0.001 * g[i] * g[i];
          double const first = m[l][i] / (1 - std::pow(0.9, t)), second = v[l][i] / (1 - std::pow(0.999, t));
          p[i] = (l < 2 ? 1 - 0.05 * 0.5 : 1) * p[i] - 0.05 * first / (std::sqrt(second) + 1e-8);
        }
      });
}

TEST_CASE("lars: a rate for each layer") {
  double v[3][6] = {};
  auto const length = [](double const* x) {
    double sum = 0;
    for (int i = 0; i < 6; ++i) sum += x[i] * x[i];
    return std::sqrt(sum);
  };
  follow_layers([](auto) { return mt::lars{.learning_rate = 0.5, .decay = 0.8, .weight_decay = 0.1, .trust = 0.02}; },
                [&](int l, double* p, double const* g, int n, int) {
                  double const local = l == 2 ? 1 : 0.02 * length(p) / (length(g) + 0.1 * length(p));
                  for (int i = 0; i < n; ++i) {
                    v[l][i] = 0.8 * v[l][i] + 0.5 * local * (g[i] + (l < 2 ? 0.1 * p[i] : 0));
                    p[i] -= v[l][i];
                  }
                });
}

namespace {

/// A layer that is zero at first, and one whose gradient is.
struct begins_at_zero {
  constexpr void operator()(mt::scope auto s) const {
    auto const loss =
        sum(s.parameter("zero", rows, columns, mt::zeros)) + sum(s.parameter("still", rows, columns, mt::ones)) * 0;
    mt::lars{.learning_rate = 0.5}.minimize(s / "optimizer", loss);
  }
};

}  // namespace

TEST_CASE("lars moves a layer of zeros by its gradient, and none without a gradient") {
  program p = program::of<begins_at_zero>();
  p.run();
  CHECK(p.variables.at("zero").number_at(3) == -0.5);
  CHECK(p.variables.at("still").number_at(3) == 1);
}

namespace {

/// A step by the gradient x, in f32.
template <class How>
struct stepped {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, rows, columns);
    auto const w = s.parameter("w", rows, columns, mt::ones);
    How{}(s).minimize(s / "optimizer", sum(w * x));
  }
};
/// What such a step by numbers of this size takes from each element of a parameter of ones.
template <class How>
std::vector<double> moved(How, double size) {
  program p = program::of<stepped<How>>();
  p.fill("x", {3 * size, 0, -1 * size, 2 * size, 1 * size, -1 * size});
  p.run();
  std::vector<double> all = trial::numbers_of(p.variables.at("w"));
  for (double& one : all) one = 1 - one;
  return all;
}

}  // namespace

TEST_CASE("lengths of huge and of tiny gradients are those of others, scaled") {
  double const directions[] = {0.75, 0, -0.25, 0.5, 0.25, -0.25};
  auto const clipped = [](auto) { return mt::sgd{.learning_rate = 0.5, .clip_norm = 1}; };
  auto const by_layer = [](auto) { return mt::lars{.learning_rate = 0.5, .trust = 1}; };  // √6 times the direction
  for (double const size : {4.0, 1e14, 1e17, 1e19, 1e25, 1e37}) {
    INFO("size " << size);
    std::vector<double> const by_clipping = moved(clipped, size), by_lars = moved(by_layer, size);
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(by_clipping[i] == doctest::Approx(0.5 * directions[i]).epsilon(1e-6));
      CHECK(by_lars[i] == doctest::Approx(0.5 * std::sqrt(6.0) * directions[i]).epsilon(1e-6));
    }
  }
  for (double const size : {1e-9, 1e-15, 1e-25, 1e-36}) {
    INFO("size " << size);
    std::vector<double> const by_lars = moved(by_layer, size);
    for (std::size_t i = 0; i < 6; ++i)
      CHECK(by_lars[i] == doctest::Approx(0.5 * std::sqrt(6.0) * directions[i]).epsilon(1e-6));
    CHECK(moved(clipped, size) == std::vector<double>(6));  // one less so little is one
  }
}

namespace {

/// Parameters of ones, of which some elements, a row, or all have gradients of zero.
template <class How>
struct partly_still {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, rows, columns);
    auto const loss = sum(s.parameter("matrix", rows, columns, mt::ones) * x) +
                      sum(s.parameter("still", rows, columns, mt::ones) * x) * 0 +
                      sum(s.parameter("vector", rows, mt::ones) * sum(x, columns));
    How{}(s).minimize(s / "optimizer", loss);
  }
};

/// Whether elements with a gradient move by two steps, and others stay.
template <class How>
void check_still(How, double zero, bool moves) {
  program p = program::of<mt::precision<partly_still<How>, mt::dtype::f64>>();
  p.fill("x", {0, 0, 0.5, 0, -2, 3});
  p.settings.named = {{"zero", zero}};
  for (int i = 0; i < 2; ++i) p.run();
  auto const check = [&](char const* label, std::vector<bool> const& has_gradient) {
    for (std::size_t i = 0; i < has_gradient.size(); ++i) {
      double const now = p.variables.at(label).number_at(static_cast<std::int64_t>(i));
      INFO(std::string(label) << " " << i << " is " << now);
      CHECK(std::isfinite(now));
      CHECK((now != 1) == (has_gradient[i] && moves));
    }
  };
  check("matrix", {false, false, true, false, true, true});
  check("still", std::vector<bool>(6));
  check("vector", {false, true, true});
}

}  // namespace

TEST_CASE("what has no gradient stays where a number is 0 that is a divisor") {
  check_still([](auto) { return mt::adam{.epsilon = 0}; }, 0, true);
  check_still([](auto s) { return mt::adamw{.epsilon = s.number("zero", 1), .weight_decay = 0}; }, 0, true);
  check_still([](auto) { return mt::adafactor{.epsilon = 0}; }, 0, true);
  check_still([](auto s) { return mt::adafactor{.epsilon = s.number("zero", 1)}; }, 0, true);
  check_still([](auto) { return mt::adafactor{.clip_threshold = 0, .epsilon = 0}; }, 0, false);
  check_still([](auto s) { return mt::sgd{.clip_norm = s.number("zero", 1)}; }, 0, false);
}

namespace {
struct without_gradients {
  constexpr void operator()(mt::scope auto s) const {
    auto const loss = sum(s.parameter("w", rows, columns, mt::ones) * 0);
    mt::sgd{.clip_norm = 0}.minimize(s / "optimizer", loss);
  }
};
template <int Percent>
struct averages {
  constexpr void operator()(mt::scope auto s) const {
    auto const loss = sum(s.parameter("w", rows, columns, mt::ones));
    mt::adam{.beta_2 = Percent * 0.01}.minimize(s / "optimizer", loss);
  }
};
}  // namespace

TEST_CASE("gradients of zero are clipped to a length of 0") {
  program p = program::of<without_gradients>();
  p.run();
  for (double const w : trial::numbers_of(p.variables.at("w"))) CHECK(w == 1);
}

TEST_CASE("betas of adam are less than 1") {
  CHECK(program::of<averages<99>>().graph().node_count > 0);
  CHECK(program::of<averages<0>>().graph().node_count > 0);
  for (auto const trace : {&mt::trace<averages<100>>, &mt::trace<averages<-1>>})
    CHECK_THROWS_WITH_AS(static_cast<void>(std::unique_ptr<mt::module>(new mt::module(trace()))),
                         doctest::Contains("T51: adam: beta_1 and beta_2 are at least 0 and less than 1"), mt::error);
}

namespace {
struct set_averages {
  constexpr void operator()(mt::scope auto s) const {
    auto const loss = sum(s.parameter("w", rows, columns, mt::ones));
    mt::adam{.beta_1 = s.number("first", 0.9), .beta_2 = s.number("second", 0.99)}.minimize(s / "optimizer", loss);
  }
};
}  // namespace

TEST_CASE("betas of adam that a run sets are less than 1") {
  auto const with = [](char const* label, double beta) -> std::string {
    program p = program::of<set_averages>();
    p.settings.named = {{label, beta}};
    try {
      p.run();
    } catch (mt::error const& e) { return e.what(); }
    for (double const w : trial::numbers_of(p.variables.at("w"))) CHECK(w == doctest::Approx(0.999));
    return "";
  };
  for (char const* const label : {"first", "second"}) {
    for (double const beta : {0.0, 0.5, 0.999}) CHECK(with(label, beta) == "");
    for (double const beta : {1.0, 1.5, -0.25, std::nan("")}) {
      std::string const sentence = with(label, beta);
      INFO(sentence);
      CHECK(sentence.find("T51: the number 1 - " + std::string(label) + " is ") != std::string::npos);
    }
  }
  CHECK(with("second", 1).find("is 0, but must be greater than 0 and at most 1") != std::string::npos);
}
