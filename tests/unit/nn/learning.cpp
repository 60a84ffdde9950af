// SPDX-License-Identifier: Apache-2.0
// Networks of more than one part learn: an encoder with a decoder, recurrent cells, two networks against each other;
// and a cell whose step is a matrix product learns the same wherever its parts lie.
#include "support/programs.hpp"
#include "unit/op/trial.hpp"

namespace {

namespace mt = meshtensor;
using mt::to;
using programs::batch, programs::length, programs::model;

inline constexpr struct state_dim : mt::dim<"state", 8> {} state;
inline constexpr struct next_dim : mt::dim<"next", 8> {} next;

/// Reads a sequence and says what came first, which the last state has to remember.
struct reminder {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, length, model);
    auto first = s.input("first", s.real(), batch, model);
    auto start = broadcast(s.parameter("start", state), to(batch, state));
    auto [last, all] = scan(s / "cell", length, start, x, [](mt::scope auto r, auto h, auto xt) {
      auto seen = einsum(xt, r.parameter("w", model, next), to(batch, next));
      auto kept = einsum(h, r.parameter("u", state, next), to(batch, next));
      auto made = rename(tanh(seen + kept + r.parameter("bias", next)), next, state);
      return std::tuple(made, made);
    });
    auto loss = mt::nn::mean_squared_error(mt::nn::linear(s / "say", last, state, model), first);
    mt::adam{.learning_rate = 3e-2}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
    s.output("states", all);
  }
};

/// A network that imitates `x` and one that tells them apart, each at a rate of its own.
struct game {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", s.real(), batch, model);
    auto noise = s.input("noise", s.real(), batch, model);
    auto made = programs::adversaries::network(s / "maker", noise);
    auto judged = sigmoid(programs::adversaries::network(s / "judge", made));
    auto fair = sigmoid(programs::adversaries::network(s / "judge", x));
    auto maker_loss = -mean(log(judged + 0.01)), judge_loss = -mean(log(1.01 - judged)) - mean(log(fair + 0.01));
    mt::adam{.learning_rate = s.number("maker_rate", 0)}.minimize(s / "maker_optimizer", maker_loss, s / "maker");
    mt::adam{.learning_rate = s.number("judge_rate", 0)}.minimize(s / "judge_optimizer", judge_loss, s / "judge");
    s.output("maker_loss", maker_loss);
    s.output("judge_loss", judge_loss);
  }
};

using course = std::vector<double>;
constexpr int steps = 20;

template <class Program>
trial::program pupil(double low, double high) {
  trial::program p = trial::program::of<Program>();
  p.fill_at_random(low, high);
  return p;
}
/// An output, a number, at every step.
course train(trial::program& p, std::string const& output) {
  course all;
  for (int t = 0; t < steps; ++t) all.push_back(p.run().at(output).number_at(0));
  return all;
}
/// Whether every variable of a scope is what it was, or none is.
void check_moved(mt::blocks const& before, mt::blocks const& after, std::string const& scope, bool moved) {
  int variables = 0;
  for (auto const& [path, b] : before)
    if (path.starts_with(scope)) {
      INFO(path);
      CHECK((trial::numbers_of(b) != trial::numbers_of(after.at(path))) == moved);
      ++variables;
    }
  CHECK(variables > 0);
}

/// Sequences, and what each begins with.
trial::program to_remember() {
  auto p = pupil<mt::precision<reminder, mt::dtype::f64>>(-1, 1);
  auto const &x = p.inputs.at("x"), &first = p.inputs.at("first");
  std::int64_t const one = model.dim_rule.value, row = length.dim_rule.value * one;
  for (std::int64_t i = 0; i < first.size(); ++i) p.inputs.at("first").set(i, x.number_at(i / one * row + i % one));
  return p;
}

}  // namespace

TEST_CASE("an encoder and a decoder") {
  auto p = pupil<programs::translator>(0, 12);
  double const start = p.run().at("loss").number_at(0);
  mt::blocks const before = p.variables;
  double const end = train(p, "loss").back();
  CHECK(start > 2.5);  // more than guessing one of twelve words costs
  CHECK(end < start - 1.5);
  for (char const* part : {"source", "encoder", "target", "decoder", "logits"})
    check_moved(before, p.variables, part, true);
}

TEST_CASE("a recurrent cell") {
  auto p = pupil<programs::recurrent>(-1, 1);
  auto const losses = train(p, "loss");
  CHECK(losses.back() < losses[0] - 0.6);
}

TEST_CASE("a recurrent cell whose step is a matrix product") {
  auto p = to_remember();
  double const start = p.run().at("loss").number_at(0);
  mt::blocks const before = p.variables;
  double const end = train(p, "loss").back();
  CHECK(start > 0.3);  // what always saying zero costs
  CHECK(end < 0.2);
  for (char const* part : {"start", "cell", "say"}) check_moved(before, p.variables, part, true);
}

TEST_CASE("the same cell, its batch or the sides of its matrix spread") {
  auto p = to_remember();
  auto const wanted = train(p, "loss");
  auto const states = p.run().at("states");
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<reminder, mt::dtype::f64>>(); });
  auto const two = mt::mesh_shape{}.add("ax", 2), four = mt::mesh_shape{}.add("ax", 2).add("by", 2);
  std::pair<mt::mesh_shape, mt::layout_rules> const spreads[] = {
      {two, mt::layout_rules{}.shard("batch", {"ax"})},
      {two, mt::layout_rules{}.shard("state", {"ax"})},
      {two, mt::layout_rules{}.shard("next", {"ax"})},
      {four, mt::layout_rules{}.shard("batch", {"ax"}).shard("state", {"by"})},
      {four, mt::layout_rules{}.shard("state", {"ax"}).shard("next", {"by"})}};
  for (auto const& [mesh, rules] : spreads) {
    auto const low = mt::lower(*traced, "reminder", mesh, rules, {});
    auto const job = mt::job::in_lockstep();
    mt::store weights(job);
    mt::session<mt::reference_device> run(weights, low->graph, low->planned, mesh, low->entry);
    for (auto const& [label, b] : p.inputs) run.feed(label, b.data());
    for (double loss : wanted) {
      run.step();
      CHECK(run.whole("loss").number_at(0) == doctest::Approx(loss).epsilon(1e-9));
    }
    run.step();
    mt::block const found = run.whole("states");
    for (std::int64_t i = 0; i < states.size(); ++i)
      CHECK(found.number_at(i) == doctest::Approx(states.number_at(i)).epsilon(1e-9));
  }
}

TEST_CASE("two networks against each other") {
  auto p = pupil<programs::adversaries>(-1, 1);
  auto const gains = train(p, "gain");
  CHECK(gains.back() > gains[0] + 0.25);  // the maker is the faster one there
}

TEST_CASE("each of two networks learns while the other rests") {
  for (std::string const learner : {"maker", "judge"}) {
    auto p = pupil<game>(-1, 1);
    p.run();
    mt::blocks const before = p.variables;
    p.settings.named[learner + "_rate"] = 1e-2;
    auto const losses = train(p, learner + "_loss");
    INFO(learner << ": " << losses[0] << " to " << losses.back());
    CHECK(losses.back() < losses[0] - 0.3);
    check_moved(before, p.variables, "maker/", learner == "maker");
    check_moved(before, p.variables, "judge/", learner == "judge");
  }
}
