// SPDX-License-Identifier: Apache-2.0
// Lesson 9. You learn to use random numbers. Each random number belongs to an element of a tensor, not to a rank. It
// follows from the seed, the program's name, the step, the path and the index of the element in the whole tensor.
// Therefore dropout is the same under every layout, and a run can be repeated bit for bit.
#include <doctest/doctest.h>

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct width : mt::dim<"width", 8> {} width;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, model> {};
// Four layouts: nothing is sharded, one dim is sharded, each dim over its own axis, and one dim over both axes.
struct replicated : mt::layout<> {};
struct by_batch : mt::layout<mt::shard<batch, data>> {};
struct by_both : mt::layout<mt::shard<batch, data>, mt::shard<width, model>> {};
struct crossed : mt::layout<mt::shard<width, data, model>> {};

// The program drops elements of ones, and draws two tensors of normal random numbers. Every source of random numbers
// takes a scope, because the path of this scope selects the numbers.
struct drop {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.parameter("x", batch, width, mt::ones);
    auto kept = mt::nn::dropout(s / "drop", x, s.number("rate", 0.5));
    s.output("kept", kept);
    s.output("noise", normal(s / "noise", mt::f32, to(batch, width)));
    s.output("again", normal(s / "again", mt::f32, to(batch, width)));  // another path, so these are other numbers
    s.update(x, x);                                                     // x keeps its value
  }
};

// The outputs of the first step, and the noise of the second step as `later`.
struct outcome {
  mt::any_array<float> kept, noise, again, later;
  bool operator==(outcome const&) const = default;
};

// Runs two steps under a layout, on a mesh of the given size. A store takes the seed as its second argument.
template <class Layout>
outcome run(std::int64_t along_data, std::int64_t along_model, std::uint64_t seed) {
  auto job = mt::job::as_threads();
  mt::store weights(job, seed);
  mt::executable<drop, mesh, Layout> step(weights, data(along_data), model(along_model));
  auto const first = step();
  outcome r{first.template get<"kept">().gather(),
            first.template get<"noise">().gather(),
            first.template get<"again">().gather(),
            {}};
  r.later = step().template get<"noise">().gather();
  return r;
}
}  // namespace lesson
using namespace lesson;

TEST_CASE("the same numbers under every layout of every mesh") {
  // We compare one rank with meshes of 2, 8, 8 and 4 ranks. With the same seed, 7, all outcomes are equal bit for bit.
  outcome const one = run<replicated>(1, 1, 7);
  CHECK(one == run<by_batch>(2, 1, 7));
  CHECK(one == run<by_batch>(4, 2, 7));
  CHECK(one == run<by_both>(2, 4, 7));
  CHECK(one == run<crossed>(2, 2, 7));
}

TEST_CASE("other numbers for another seed, another path and another step") {
  // If the seed, the path or the step differs, the numbers differ, too. Therefore each step drops other elements.
  outcome const one = run<replicated>(1, 1, 7), other = run<replicated>(1, 1, 8);
  CHECK(!(one.noise == other.noise));
  CHECK(!(one.noise == one.again));
  CHECK(!(one.noise == one.later));
}

TEST_CASE("what is kept is scaled, so that the expectation stays") {
  // Dropout with a rate of 0.5 sets about half of the elements to zero. It divides the others by 1 - 0.5, so that the
  // expectation of each element stays 1. Therefore each remaining element is 2.
  outcome const one = run<replicated>(1, 1, 7);
  int kept = 0;
  for (float e : one.kept) kept += e == 2;
  CHECK(kept == std::count_if(one.kept.begin(), one.kept.end(), [](float e) { return e != 0; }));
  // About 16 of the 32 elements are kept.
  CHECK(kept > 8);
  CHECK(kept < 24);
}
