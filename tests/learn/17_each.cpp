// SPDX-License-Identifier: Apache-2.0
// Lesson 17. You learn to run one body for all indices of a dim at once. In `each`, every index has parameters of its
// own, for example every member of an ensemble. In `map` the indices share them, for example the examples of a batch.
#include <doctest/doctest.h>

#include <cmath>

#include <meshtensor/emit/print.hpp>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct member : mt::dim<"member", 4> {} member;
inline constexpr struct batch : mt::dim<"batch", 3> {} batch;
inline constexpr struct width : mt::dim<"width", 2> {} width;

// The body is written for one member, so `w` has the dim `width` alone. All members see the same x and y. The result
// has the dim `member`, because there is one loss for each member.
struct ensemble {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, width);
    auto y = s.input("y", mt::f32, batch);
    auto losses = mt::each(s / "members", member, [&](mt::scope auto m) {
      auto w = m.parameter("w", width, mt::normal(1));
      auto error = einsum(x, w, to(batch)) - y;
      auto loss = mean(error * error);
      mt::sgd{.learning_rate = 0.2}.minimize(m / "optimizer", loss);
      return loss;
    });
    s.output("losses", losses);
  }
};

// In `map` the parameters are those of an ordinary program. Its operands are seen in slices: `one` is one example, and
// has the dim `width` alone. The gradient by the shared `w` is the gradient of this example.
struct examples {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, width);
    auto w = s.parameter("w", width, mt::ones);
    auto [loss, derivative] = mt::map(s / "examples", batch, x, [&](mt::scope auto, auto one) {
      auto l = exp(sum(one * w));
      return std::tuple(l, gradient(l, w));
    });
    s.output("gradients", derivative);        // [batch, width]: one gradient for each example
    s.output("sum", gradient(sum(loss), w));  // [width]: the usual gradient, which is their sum
  }
};

// `across` shows the values of all indices. `own` takes this index's slice of a tensor that is the same for all. Any
// operation may stand between them. `index` is the number of the index.
struct ring {
  constexpr void operator()(mt::scope auto s) const {
    auto [gap, left, number] = mt::each(s, member, s.input("x", mt::f32, member), [](mt::scope auto m, auto one) {
      auto all = mt::across(one, member);
      return std::tuple(one - mean(all, member), mt::own(roll(all, member, 1), member), mt::index(m, member));
    });
    s.output("gap", gap);
    s.output("left", left);
    s.output("number", number);
  }
};

// The dim can be sharded like any other dim. The program does not change.
inline constexpr struct ranks : mt::axis<"ranks"> {} ranks;
struct mesh : mt::mesh<ranks> {};
struct layout : mt::layout<mt::shard<member, ranks>> {};

mt::array<float, batch, width> const x({1, 0, 0, 1, 1, -1});
mt::array<float, batch> const y({1, 2, -1});

// Trains the ensemble for some steps on this many ranks, and returns the last losses.
mt::any_array<float> losses_after(int steps, int count) {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<ensemble, mesh, layout> step(weights, ranks(count));
  for (int i = 1; i < steps; ++i) step(mt::feed<"x">(x), mt::feed<"y">(y));
  return step(mt::feed<"x">(x), mt::feed<"y">(y)).get<"losses">().gather();
}
}  // namespace lesson
using namespace lesson;

TEST_CASE("each index has parameters of its own, which are stored as one array") {
  static constexpr mt::module traced = mt::trace<ensemble>();
  CHECK(text_of(traced).find("parameter members/w: f32[member, width]") != std::string::npos);
}

TEST_CASE("members start differently, and each learns for itself") {
  auto const first = losses_after(1, 1), last = losses_after(30, 1);
  REQUIRE(last.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(last.data()[i] < 1e-3);
    CHECK(first.data()[i] > 0.01);
    if (i > 0) CHECK(first.data()[i] != first.data()[0]);
  }
}

TEST_CASE("a rank trains its members, and the losses are those of one rank") {
  // Four members on four ranks are one member a rank. On three ranks, one of them has two members.
  auto const alone = losses_after(5, 1);
  CHECK(losses_after(5, 3) == alone);
  CHECK(losses_after(5, 4) == alone);
}

TEST_CASE("members exchange nothing, because no member asks for another one") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<ensemble, mesh, layout> step(weights, ranks(4));
  CHECK(mt::traffic_of(step.graph(), step.planned()).collectives() == 0);
}

TEST_CASE("map gives the gradient of each example") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<examples, mt::mesh<>, mt::layout<>> step(weights);
  auto const result = step(mt::feed<"x">(x));
  auto const derivative = result.get<"gradients">().gather();
  // The loss of an example is exp(x₀ w₀ + x₁ w₁), so its derivative is x times its loss: e, e and 1 for w = (1, 1).
  double const e = std::exp(1.0);
  double const expected[] = {e, 0, 0, e, 1, -1};
  for (std::size_t i = 0; i < 6; ++i) CHECK(derivative.data()[i] == doctest::Approx(expected[i]));
  auto const sum = result.get<"sum">().gather();
  CHECK(sum.data()[0] == doctest::Approx(e + 1));
  CHECK(sum.data()[1] == doctest::Approx(e - 1));
}

TEST_CASE("indices see each other through across and own") {
  auto const job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<ring, mesh, layout> step(weights, ranks(2));
  auto const result = step(mt::feed<"x">(mt::array<float, member>({1, 2, 3, 6})));
  CHECK(text_of(result.get<"gap">().gather()) == "f32[member=4]\n[-2, -1, 0, 3]");  // the mean is 3
  CHECK(text_of(result.get<"left">().gather()) == "f32[member=4]\n[6, 1, 2, 3]");   // the last one is before the first
  CHECK(text_of(result.get<"number">().gather()) == "i64[member=4]\n[0, 1, 2, 3]");
}
