// SPDX-License-Identifier: Apache-2.0
// Mixture of experts against a plain loop: who is served, who is dropped, what comes back; gradients against finite
// differences.
// passes: start-up
#include "meshtensor/nn/experts.hpp"

#include <algorithm>
#include <numeric>

#include "meshtensor/nn/sgd.hpp"
#include "unit/op/trial.hpp"

namespace {

namespace mt = meshtensor;

inline constexpr struct batch_dim : mt::dim<"batch"> {} batch;
inline constexpr struct length_dim : mt::dim<"length"> {} length;
inline constexpr struct model_dim : mt::dim<"model"> {} model;
inline constexpr struct experts_dim : mt::dim<"experts"> {} experts;
inline constexpr struct choices_dim : mt::dim<"choices"> {} choices;
inline constexpr struct slots_dim : mt::dim<"slots"> {} slots;
inline constexpr struct hidden_dim : mt::dim<"hidden"> {} hidden;

/// Gradient descent with rate 1 makes every gradient visible: what a parameter loses.
struct descended {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, length, model);
    auto const [y, balance, dropped] =
        mt::nn::mixture_of_experts(s / "experts", x, length, model, experts, choices, slots, hidden);
    auto const loss = sum(y * (y * 0.5 + 0.3)) + mt::cast<s.compute>(balance) * 0.7;
    s.output("y", y);
    s.output("balance", balance);
    s.output("dropped", dropped);
    s.output("loss", loss);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = s.number("rate", 1)}.minimize(s / "optimizer", loss);
  }
};
struct in_f64 : mt::precision<descended, mt::f64> {};
struct in_bf16 : mt::precision<descended, mt::f32, mt::bf16> {};

/// The same of experts that drop nothing.
struct dropless {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, length, model);
    auto const [y, balance] =
        mt::nn::dropless_mixture_of_experts(s / "experts", x, length, model, experts, choices, hidden);
    auto const loss = sum(y * (y * 0.5 + 0.3)) + mt::cast<s.compute>(balance) * 0.7;
    s.output("y", y);
    s.output("balance", balance);
    s.output("dropped", balance * 0);
    s.output("loss", loss);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = s.number("rate", 1)}.minimize(s / "optimizer", loss);
  }
};
struct dropless_in_f64 : mt::precision<dropless, mt::f64> {};
struct dropless_in_bf16 : mt::precision<dropless, mt::f32, mt::bf16> {};

/// Experts that serve at most three rows each.
struct three_of_each {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", s.real(), batch, length, model);
    auto const [y, balance] =
        mt::nn::dropless_mixture_of_experts(s / "experts", x, length, model, experts, choices, hidden, 3);
    auto const loss = sum(y * (y * 0.5 + 0.3)) + balance * 0.7;
    s.output("y", y);
    s.output("balance", balance);
    s.output("dropped", balance * 0 + s.number("dropped", 0));
    s.output("loss", loss);
    s.output("dx", gradient(loss, x));
    mt::sgd{.learning_rate = s.number("rate", 1)}.minimize(s / "optimizer", loss);
  }
};
struct three_of_each_in_f64 : mt::precision<three_of_each, mt::f64> {};

struct sizes {
  std::int64_t batch, length, model, experts, choices, slots, hidden;
};
constexpr std::int64_t no_slots = -1;  // nothing is dropped

template <class Program = in_f64>
trial::program program_of(sizes const& n) {
  std::vector<mt::dim_extent> extents{{mt::name("batch"), n.batch},     {mt::name("length"), n.length},
                                      {mt::name("model"), n.model},     {mt::name("experts"), n.experts},
                                      {mt::name("choices"), n.choices}, {mt::name("hidden"), n.hidden}};
  if (n.slots != no_slots) extents.push_back({mt::name("slots"), n.slots});
  trial::program p = trial::program::of<Program>(extents);
  p.fill_at_random(-1, 1);
  p.settings.named["rate"] = 0;
  p.run();  // makes the variables
  p.settings.named.clear();
  trial::stream s{3};
  for (auto& [name, b] : p.variables)
    for (std::int64_t i = 0; i < b.size(); ++i) b.set(i, b.number_at(i) + s.between(-0.3, 0.3));
  return p;
}

/// Tokens that prefer, by far, the experts in `wanted`, the same in each example of the batch.
void steer(trial::program& p, sizes const& n, std::vector<std::int64_t> const& wanted) {
  mt::block &x = p.inputs.at("x"), &gate = p.variables.at("experts/router/gate");
  REQUIRE(n.model >= n.experts);
  for (std::int64_t i = 0; i < gate.size(); ++i) gate.set(i, i / n.experts == i % n.experts ? 1 : 0);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::int64_t const m = i % n.model, t = i / n.model % n.length;
    x.set(i, x.number_at(i) * 0.25 + (m == wanted[static_cast<std::size_t>(t)] ? 3 : 0));
  }
}

/// The layer in plain loops.
struct by_loops {
  std::vector<double> y;
  double balance = 0, dropped = 0;
  std::vector<std::int64_t> load;  // tokens that prefer each expert most

  by_loops(trial::program const& p, sizes const& n)
      : y(static_cast<std::size_t>(n.batch * n.length * n.model)), load(static_cast<std::size_t>(n.experts)) {
    for (std::int64_t b = 0; b < n.batch; ++b) one_example(p, n, b);
    balance /= static_cast<double>(n.batch);
    dropped /= static_cast<double>(n.batch * n.length * n.choices);
  }

 private:
  void one_example(trial::program const& p, sizes const& n, std::int64_t b) {
    mt::block const &x = p.inputs.at("x"), &gate = p.variables.at("experts/router/gate");
    auto const index = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    std::vector<std::vector<double>> probability(index(n.length), std::vector<double>(index(n.experts)));
    std::vector<std::vector<std::int64_t>> order(index(n.length), std::vector<std::int64_t>(index(n.experts)));
    std::vector<double> mean(index(n.experts)), share(index(n.experts));
    for (std::int64_t t = 0; t < n.length; ++t) {
      auto& q = probability[index(t)];
      double total = 0;
      for (std::int64_t e = 0; e < n.experts; ++e) {
        double score = 0;
        for (std::int64_t m = 0; m < n.model; ++m)
          score += x.number_at((b * n.length + t) * n.model + m) * gate.number_at(m * n.experts + e);
        total += q[index(e)] = std::exp(score);
      }
      for (std::int64_t e = 0; e < n.experts; ++e) mean[index(e)] += (q[index(e)] /= total);
      std::iota(order[index(t)].begin(), order[index(t)].end(), 0);
      std::sort(order[index(t)].begin(), order[index(t)].end(),
                [&](std::int64_t e, std::int64_t f) { return q[index(e)] > q[index(f)]; });
      ++load[index(order[index(t)][0])], ++share[index(order[index(t)][0])];
    }
    for (std::int64_t e = 0; e < n.experts; ++e)
      balance +=
          mean[index(e)] * share[index(e)] / static_cast<double>(n.length * n.length) * static_cast<double>(n.experts);
    std::vector<std::int64_t> served(index(n.experts));
    for (std::int64_t c = 0; c < n.choices; ++c)
      for (std::int64_t t = 0; t < n.length; ++t) {
        std::int64_t const e = order[index(t)][index(c)];
        if (served[index(e)] == n.slots) {
          ++dropped;
          continue;
        }
        ++served[index(e)];
        double chosen = n.choices == 1 ? 1 : 0;
        for (std::int64_t k = 0; n.choices > 1 && k < n.choices; ++k)
          chosen += probability[index(t)][index(order[index(t)][index(k)])];
        expert(p, n, e, b * n.length + t, probability[index(t)][index(e)] / chosen);
      }
  }
  void expert(trial::program const& p, sizes const& n, std::int64_t e, std::int64_t row, double weight) {
    auto const at = [&](char const* name, std::int64_t i) {
      return p.variables.at(std::string("experts/expert/") + name).number_at(i);
    };
    std::vector<double> inner;
    for (std::int64_t h = 0; h < n.hidden; ++h) {
      double v = at("up/bias", e * n.hidden + h);
      for (std::int64_t m = 0; m < n.model; ++m)
        v += p.inputs.at("x").number_at(row * n.model + m) * at("up/weight", (e * n.model + m) * n.hidden + h);
      inner.push_back(v * 0.5 * (1 + std::erf(v / std::sqrt(2.0))));
    }
    for (std::int64_t m = 0; m < n.model; ++m) {
      double v = at("down/bias", e * n.model + m);
      for (std::int64_t h = 0; h < n.hidden; ++h)
        v += inner[static_cast<std::size_t>(h)] * at("down/weight", (e * n.hidden + h) * n.model + m);
      y[static_cast<std::size_t>(row * n.model + m)] += weight * v;
    }
  }
};

mt::blocks outcome(trial::program& p, mt::blocks const& variables, mt::blocks* after = nullptr) {
  p.variables = variables;
  mt::blocks const outputs = p.run();
  if (after != nullptr) *after = p.variables;
  p.variables = variables;
  return outputs;
}

/// Compares with plain loops, and gives what those say.
by_loops check_values(trial::program& p, sizes const& n, double tolerance = 1e-12) {
  by_loops const wanted(p, n);
  mt::blocks const got = outcome(p, mt::blocks(p.variables));
  double worst = 0;
  for (std::size_t i = 0; i < wanted.y.size(); ++i)
    worst = std::max(worst, std::abs(got.at("y").number_at(static_cast<std::int64_t>(i)) - wanted.y[i]));
  CHECK(worst <= tolerance);
  CHECK(got.at("balance").number_at(0) == doctest::Approx(wanted.balance).epsilon(tolerance));
  CHECK(got.at("dropped").number_at(0) == doctest::Approx(wanted.dropped).epsilon(tolerance));
  return wanted;
}

void check_gradients(trial::program& p) {
  mt::blocks variables = p.variables, after;
  mt::blocks const given = outcome(p, variables, &after);
  auto const check = [&](mt::block& moved, std::int64_t i, double derivative) {
    constexpr double step = 1e-6;
    double const here = moved.number_at(i);
    moved.set(i, here + step);
    double const above = outcome(p, variables).at("loss").number_at(0);
    moved.set(i, here - step);
    double const below = outcome(p, variables).at("loss").number_at(0);
    moved.set(i, here);
    double const wanted = (above - below) / (2 * step);
    CHECK(std::abs(derivative - wanted) <= 1e-6 * (1 + std::abs(wanted)));
  };
  double gate = 0;
  for (auto& [name, b] : variables)
    for (std::int64_t i = 0; i < b.size(); ++i) {
      INFO(name << "[" << i << "]");
      double const derivative = b.number_at(i) - after.at(name).number_at(i);
      if (name == "experts/router/gate") gate += std::abs(derivative);
      check(b, i, derivative);
    }
  CHECK(gate > 1e-3);  // the router learns
  for (std::int64_t i = 0; i < p.inputs.at("x").size(); ++i) {
    INFO("x[" << i << "]");
    check(p.inputs.at("x"), i, given.at("dx").number_at(i));
  }
}

}  // namespace

TEST_CASE("loads of three to one, and experts that nobody prefers") {
  for (std::int64_t const room : {1, 4, 6}) {
    sizes const n{2, 8, 5, 4, 1, room, 3};
    trial::program p = program_of(n);
    steer(p, n, {0, 0, 1, 0, 0, 1, 0, 0});
    by_loops const found = check_values(p, n);
    CHECK(found.load == std::vector<std::int64_t>{12, 4, 0, 0});
    CHECK(found.dropped == (room == 1 ? 0.75 : room == 4 ? 0.25 : 0));
    check_gradients(p);
  }
}

TEST_CASE("one to four choices, with too few slots") {
  for (std::int64_t const chosen : {1, 2, 3, 4}) {
    sizes const n{2, 7, 3, 4, chosen, 2, 3};
    trial::program p = program_of(n);
    by_loops const found = check_values(p, n);
    CHECK(found.dropped >= 0.05);
    CHECK(found.dropped < 1);
    check_gradients(p);
  }
}

TEST_CASE("second choices queue behind all first ones") {
  // The second of the first token and the first of the last are the same expert, which has one slot.
  sizes const n{1, 3, 4, 4, 2, 1, 2};
  trial::program p = program_of(n);
  steer(p, n, {0, 1, 2});
  mt::block& x = p.inputs.at("x");
  x.set(2, x.number_at(2) + 2);
  by_loops const found = check_values(p, n);
  CHECK(found.load == std::vector<std::int64_t>{1, 1, 1, 0});
  CHECK(found.dropped >= 1.0 / 6);
}

TEST_CASE("tokens without a slot become zero") {
  sizes const n{1, 4, 4, 2, 1, 1, 2};
  trial::program p = program_of(n);
  steer(p, n, {1, 1, 1, 1});
  check_values(p, n);
  mt::blocks const got = outcome(p, mt::blocks(p.variables));
  for (std::int64_t i = 0; i < 16; ++i) CHECK((got.at("y").number_at(i) == 0) == (i >= 4));
}

TEST_CASE("if all are preferred alike, the balance is 1; if one is, their number") {
  sizes const n{3, 8, 4, 4, 1, 8, 2};
  trial::program p = program_of(n);
  steer(p, n, {0, 1, 2, 3, 3, 2, 1, 0});
  for (std::int64_t i = 0; i < p.inputs.at("x").size(); ++i) {
    std::int64_t const m = i % n.model, t = i / n.model % n.length;
    p.inputs.at("x").set(i, m == std::min(t, 7 - t) ? 40 : 0);
  }
  CHECK(outcome(p, mt::blocks(p.variables)).at("balance").number_at(0) == doctest::Approx(1));
  for (std::int64_t i = 0; i < p.inputs.at("x").size(); ++i) p.inputs.at("x").set(i, i % n.model == 1 ? 40 : 0);
  CHECK(outcome(p, mt::blocks(p.variables)).at("balance").number_at(0) == doctest::Approx(4));
}

TEST_CASE("bf16: the router computes in f32") {
  sizes const n{2, 8, 4, 4, 2, 3, 3};
  trial::program p = program_of<in_bf16>(n);
  steer(p, n, {0, 0, 1, 0, 0, 1, 0, 3});
  check_values(p, n, 0.05);
}

TEST_CASE("experts that drop nothing") {
  for (std::int64_t const chosen : {1, 2, 3}) {
    sizes const n{2, 8, 5, 4, chosen, no_slots, 3};
    trial::program p = program_of<dropless_in_f64>(n);
    steer(p, n, {0, 0, 1, 0, 0, 1, 0, 0});
    by_loops const found = check_values(p, n);
    CHECK(found.load == std::vector<std::int64_t>{12, 4, 0, 0});
    check_gradients(p);
  }
  sizes const n{2, 8, 4, 4, 2, no_slots, 3};
  trial::program p = program_of<dropless_in_bf16>(n);
  steer(p, n, {0, 0, 1, 0, 0, 1, 0, 3});
  check_values(p, n, 0.05);
}

TEST_CASE("experts that serve their first rows alone") {
  sizes const n{1, 8, 5, 4, 1, 3, 3};  // with one choice the first rows are those of the first slots
  trial::program p = program_of<three_of_each_in_f64>({1, 8, 5, 4, 1, no_slots, 3});
  steer(p, n, {0, 0, 1, 0, 0, 1, 0, 0});
  p.settings.named["dropped"] = 0.375;
  by_loops const found = check_values(p, n);
  CHECK(found.dropped == 0.375);  // three of the six that one expert gets
  check_gradients(p);
}

TEST_CASE("the parameters of experts that drop nothing are those of the others") {
  trial::program const p = program_of({2, 4, 3, 4, 2, 4, 3}),
                       q = program_of<dropless_in_f64>({2, 4, 3, 4, 2, no_slots, 3});
  REQUIRE(p.variables.size() == q.variables.size());
  for (auto const& [name, b] : p.variables) {
    INFO(name);
    REQUIRE(q.variables.contains(name));
    CHECK(q.variables.at(name).size() == b.size());
  }
}

TEST_CASE("more choices than experts") {
  CHECK_THROWS_WITH_AS(program_of({1, 2, 3, 2, 3, 1, 2}), doctest::Contains("S03: a slice of 'experts'"), mt::error);
}
