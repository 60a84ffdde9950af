// SPDX-License-Identifier: Apache-2.0
// Lesson 6. An executable is a program with a mesh, a layout and extents, ready to step. A store holds parameters and
// state; several programs can share them.
#include <doctest/doctest.h>

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;  // known at start-up
inline constexpr struct in : mt::dim<"in", 2> {} in;
inline constexpr struct data : mt::axis<"data"> {} data;  // as many processors as are started
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

struct fit {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = s.input("y", mt::f32, batch);
    auto error = einsum(x, s.parameter("w", in, mt::zeros), to(batch)) - y;
    auto loss = mean(error * error);
    mt::sgd{.learning_rate = s.number("rate", 0.25)}.minimize(s / "optimizer", loss);
    s.output("loss", loss);
  }
};
struct predict {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    s.output("y", einsum(x, s.parameter("w", in, mt::zeros), to(batch)));
  }
};
struct programs : mt::programs<fit, predict> {
};  // declared together: one name is one parameter, or it does not compile
}  // namespace lesson
using namespace lesson;

TEST_CASE("two programs train and use one parameter") {
  auto job = mt::job::as_threads();  // in main: mt::job job(argc, argv);
  mt::store weights(job);
  using fitting = mt::executable<programs, fit, mesh, layout>;
  using guessing = mt::executable<programs, predict, mesh, layout>;  // its layout may be another one, if w lies alike
  static_assert(mt::one_store<fitting, guessing>);
  fitting step(weights, batch(4), data(2));
  guessing guess(weights, batch(2), data(2));
  CHECK(weights.names() == std::vector<std::string>{"w"});

  mt::array<float, batch, in> const x({1, 0, 0, 1, 1, 1, 2, 1});
  mt::array<float, batch> const y({2, 3, 5, 7});
  float first = 0, last = 0;
  for (int i = 0; i < 100; ++i) {
    auto result = step(mt::feed<"x">(x), mt::feed<"y">(y));
    last = result.get<"loss">();  // an output without dims is a number
    if (i == 0) first = last;
  }
  CHECK(first == 21.75f);
  CHECK(last < 1e-3f);

  // One with dims lies spread over the processors: local() is what this process holds, gather() the whole.
  mt::array<float, batch, in> const other({1, 2, 3, 4});
  auto const answer = guess(mt::feed<"x">(other)).get<"y">().gather();
  CHECK(answer(batch(0)) == doctest::Approx(8).epsilon(1e-2));
  CHECK(answer(batch(1)) == doctest::Approx(18).epsilon(1e-2));
}

TEST_CASE("values are read and written by name; numbers are set by name") {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<programs, fit, mesh, layout> step(weights, batch(4), data(1));
  weights.set("w", std::vector<float>{2, 3});
  CHECK(text_of(weights.get<float>("w")) == "f32[in=2]\n[2, 3]");
  CHECK(text_of(weights) == "w: f32[in=2], 8 bytes\n");
  std::vector<float> const x{1, 0, 0, 1, 1, 1, 2, 1}, y{1, 1, 1, 1};
  step(mt::feed<"x">(x), mt::feed<"y">(y), mt::set<"rate">(0));
  CHECK(text_of(weights.get<float>("w")) == "f32[in=2]\n[2, 3]");  // nothing was learnt
  CHECK_THROWS_WITH(weights.get<float>("v"), "meshtensor R13: the store has no value 'v'; did you mean 'w'?");
}
