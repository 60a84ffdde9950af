// SPDX-License-Identifier: Apache-2.0
// Lesson 6. You learn to run programs on ranks. An executable is a program with a mesh, a layout and extents, ready to
// run steps. A store holds the parameters and the state, and several programs can share one store.
#include <doctest/doctest.h>

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch"> {} batch;  // its extent is given at start-up
inline constexpr struct in : mt::dim<"in", 2> {} in;
inline constexpr struct data : mt::axis<"data"> {} data;  // the number of ranks is given at start-up, too
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};

// One program trains the parameter "w", and the other one uses it to predict.
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
// We declare the programs together, because they share a parameter. If their declarations of "w" differed, the programs
// would not compile.
struct programs : mt::programs<fit, predict> {};
}  // namespace lesson
using namespace lesson;

TEST_CASE("two programs train and use one parameter") {
  // A job runs the ranks. Here they are threads of this process. In `main`, write `mt::job job(argc, argv);` instead,
  // so that the same program can run on MPI ranks.
  auto job = mt::job::as_threads();
  mt::store weights(job);
  // The two executables may have different layouts, as long as "w" has the same placement in both. `one_store` lets the
  // compiler check this.
  using fitting = mt::executable<programs, fit, mesh, layout>;
  using guessing = mt::executable<programs, predict, mesh, layout>;
  static_assert(mt::one_store<fitting, guessing>);
  // An executable takes the store and everything that was left open: the extent of the batch and the number of ranks. A
  // batch of 4 on 2 ranks means that each rank computes 2 examples.
  fitting step(weights, batch(4), data(2));
  guessing guess(weights, batch(2), data(2));
  CHECK(weights.names() == std::vector<std::string>{"w"});

  mt::array<float, batch, in> const x({1, 0, 0, 1, 1, 1, 2, 1});
  mt::array<float, batch> const y({2, 3, 5, 7});
  // A call of the executable runs one step on all ranks. You feed whole arrays, and each rank takes its part of them.
  float first = 0, last = 0;
  for (int i = 0; i < 100; ++i) {
    auto result = step(mt::feed<"x">(x), mt::feed<"y">(y));
    last = result.get<"loss">();  // an output without dims converts to a number
    if (i == 0) first = last;
  }
  // The first loss is the mean of y², because w starts with zeros: (4 + 9 + 25 + 49) / 4.
  CHECK(first == 21.75f);
  CHECK(last < 1e-3f);

  // An output with dims stays sharded over the ranks. `gather` returns the whole output, whereas `local` returns only
  // the part that this process holds. The other program finds the trained "w" in the store, which is close to (2, 3).
  mt::array<float, batch, in> const other({1, 2, 3, 4});
  auto const answer = guess(mt::feed<"x">(other)).get<"y">().gather();
  CHECK(answer(batch(0)) == doctest::Approx(8).epsilon(1e-2));
  CHECK(answer(batch(1)) == doctest::Approx(18).epsilon(1e-2));
}

TEST_CASE("values are read and written by name; numbers are set by name") {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<programs, fit, mesh, layout> step(weights, batch(4), data(1));
  // A store works like a dictionary: `set` writes a value by its name, and `get` reads it.
  weights.set("w", std::vector<float>{2, 3});
  CHECK(text_of(weights.get<float>("w")) == "f32[in=2]\n[2, 3]");
  // The text of a store lists its values with their sizes.
  CHECK(text_of(weights) == "w: f32[in=2], 8 bytes\n");
  std::vector<float> const x{1, 0, 0, 1, 1, 1, 2, 1}, y{1, 1, 1, 1};
  // `mt::set` sets a number for this step. With a learning rate of 0, the step does not change "w".
  step(mt::feed<"x">(x), mt::feed<"y">(y), mt::set<"rate">(0));
  CHECK(text_of(weights.get<float>("w")) == "f32[in=2]\n[2, 3]");
  // An error is one sentence with a code, here R13. docs/errors.md explains every code.
  CHECK_THROWS_WITH(weights.get<float>("v"), "meshtensor R13: the store has no value 'v'; did you mean 'w'?");
}
