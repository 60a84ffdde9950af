// SPDX-License-Identifier: Apache-2.0
// A training step with as many tensors as ResNet-50 with Adam has, none of them in a loop: 161 parameters, two moments
// of each, and two averages of each of 53 batch norms. `steps` carries all of them.
// passes: start-up
// nodes: 10922
// timeout: 300
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct rounds_dim : mt::dim<"rounds", 2> {} rounds;
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct left_dim : mt::dim<"left", 2> {} left;
inline constexpr struct right_dim : mt::dim<"right", 3> {} right;
inline constexpr struct classes_dim : mt::dim<"classes", 2> {} classes;
constexpr int layers = 53, tensors = 161 + 2 * 161 + 2 * layers;

// As batch_norm has them: a gain, a bias, and two states of the batches. With fewer nodes, so that the program fits.
inline constexpr mt::layer normed = [](mt::scope auto s, auto x, auto from, auto to) {
  auto const y = einsum(x, s.parameter("kernel", from, to), mt::to(batch, to));
  auto const middle = sum(y, batch);
  auto const centred = y - middle;
  auto const kept = s.state("mean", s.real(), to, mt::zeros), spread = s.state("variance", s.real(), to, mt::ones);
  s.update(kept, kept - middle), s.update(spread, max(centred, batch));
  return tanh(centred * s.parameter("gain", to, mt::ones) + s.parameter("bias", to, mt::zeros));
};

mt::named_here numbered(int i) {
  mt::named_here part("layer");
  part.label = mt::name::of("layer_" + std::to_string(i));
  return part;
}

struct one_step {
  constexpr void operator()(mt::scope auto s) const {
    auto h = s.input("x", s.real(), batch, left);
    for (int i = 0; i + 1 < layers; i += 2)
      h = h + normed(s / numbered(i + 1), normed(s / numbered(i), h, left, right), right, left);
    auto const last = normed(s / numbered(layers - 1), h, left, right);
    auto const error = mt::nn::linear(s / "scores", last, right, classes) - s.input("y", s.real(), batch, classes);
    auto const loss = mean(error * error);
    mt::adam{.learning_rate = 0.01}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct many_steps {
  constexpr void operator()(mt::scope auto s) const { mt::steps(s, rounds, one_step{}, mt::every_step); }
};

/// What a run has given: its losses, and the parameters and states at its end.
struct results {
  std::vector<double> losses;
  std::map<std::string, std::vector<double>> states;
};

/// Runs a program some times on so many ranks; each call takes its part of the inputs.
template <class Program>
results run(int calls, int ranks, std::vector<double> const& x, std::vector<double> const& y) {
  using in_f64 = mt::precision<Program, mt::f64>;
  auto const traced = mt::on_heap([] { return mt::trace<in_f64>(); });
  auto const mesh = mt::mesh_shape{}.add("data", ranks);
  auto const low = mt::lower(*traced, mt::entry_name<in_f64>(), mesh, mt::layout_rules{}.shard("batch", {"data"}), {});
  int most = 0;
  for (int i = 0; i < low->graph.node_count; ++i) most = std::max<int>(most, low->graph.nodes[i].results.count);
  MESSAGE(ranks << " ranks: " << low->graph.node_count << " nodes, of which one has " << most << " results");
  CHECK((most > tensors) == (calls == 1));
  results r;
  auto job = mt::job::in_lockstep();
  mt::store weights(job, 3);
  mt::session<mt::reference_device> step(weights, low->graph, low->planned, mesh, low->entry);
  for (std::size_t t = 0; t < static_cast<std::size_t>(calls); ++t) {
    step.feed("x", x.data() + 8 * t), step.feed("y", y.data() + 8 * t);
    step.step();
    mt::block const losses = step.whole("loss");
    for (std::int64_t i = 0; i < losses.size(); ++i) r.losses.push_back(losses.number_at(i));
  }
  for (auto& [path, kept] : weights.values()) {
    mt::view const whole = kept.windows[0];
    if (whole.type != mt::dtype::f64) continue;  // counts of updates
    double const* const first = reinterpret_cast<double const*>(kept.read_block(0));
    r.states[path].assign(first, first + whole.size());
  }
  return r;
}

}  // namespace

TEST_CASE("steps that carry as many tensors as ResNet-50 with Adam give what as many calls give") {
  std::vector<double> x(16), y(16);
  for (std::size_t i = 0; i < 16; ++i) x[i] = std::sin(0.7 * double(i)), y[i] = std::cos(1.3 * double(i));
  results const wanted = run<one_step>(2, 1, x, y);
  CHECK(wanted.states.size() == tensors);
  for (int const ranks : {1, 2}) {
    results const got = run<many_steps>(1, ranks, x, y);
    for (std::size_t t = 0; t < 2; ++t) CHECK(got.losses[t] == doctest::Approx(wanted.losses[t]).epsilon(1e-9));
    for (auto const& [path, numbers] : wanted.states) {
      CAPTURE(path);
      REQUIRE(got.states.contains(path));
      auto const& mine = got.states.at(path);
      REQUIRE(mine.size() == numbers.size());
      for (std::size_t i = 0; i < numbers.size(); ++i) REQUIRE(mine[i] == doctest::Approx(numbers[i]).epsilon(1e-6));
    }
  }
}
