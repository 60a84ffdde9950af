// SPDX-License-Identifier: Apache-2.0
// Lesson 9. A random number belongs to an element, not to a processor: seed, path, step and the element's place in the
// whole decide it. So dropout is the same under every layout, and a run repeats bit for bit.
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
struct replicated : mt::layout<> {};
struct by_batch : mt::layout<mt::shard<batch, data>> {};
struct by_both : mt::layout<mt::shard<batch, data>, mt::shard<width, model>> {};
struct crossed : mt::layout<mt::shard<width, data, model>> {};

struct drop {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.parameter("x", batch, width, mt::ones);
    auto kept = mt::nn::dropout(s / "drop", x, s.number("rate", 0.5));
    s.output("kept", kept);
    s.output("noise", normal(s / "noise", mt::f32, to(batch, width)));
    s.output("again", normal(s / "again", mt::f32, to(batch, width)));  // another path, other numbers
    s.update(x, x);
  }
};

struct outcome {
  mt::any_array<float> kept, noise, again, later;
  bool operator==(outcome const&) const = default;
};

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
  outcome const one = run<replicated>(1, 1, 7);
  CHECK(one == run<by_batch>(2, 1, 7));
  CHECK(one == run<by_batch>(4, 2, 7));
  CHECK(one == run<by_both>(2, 4, 7));
  CHECK(one == run<crossed>(2, 2, 7));
}

TEST_CASE("other numbers for another seed, another path and another step") {
  outcome const one = run<replicated>(1, 1, 7), other = run<replicated>(1, 1, 8);
  CHECK(!(one.noise == other.noise));
  CHECK(!(one.noise == one.again));
  CHECK(!(one.noise == one.later));
}

TEST_CASE("what is kept is scaled, so that the expectation stays") {
  outcome const one = run<replicated>(1, 1, 7);
  int kept = 0;
  for (float e : one.kept) kept += e == 2;
  CHECK(kept == std::count_if(one.kept.begin(), one.kept.end(), [](float e) { return e != 0; }));
  CHECK(kept > 8);
  CHECK(kept < 24);
}
