// SPDX-License-Identifier: Apache-2.0
// Lesson 13. You learn to use a mixture of experts. Each expert is a small network, and a router sends every word to
// the two experts that it prefers for it. A layout decides where experts and words are. Therefore it also decides
// whether words move between ranks.
// passes: start-up
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

namespace lesson {
inline constexpr struct batch : mt::dim<"batch", 8> {} batch;  // sentences
inline constexpr struct length : mt::dim<"length", 6> {} length;  // words of a sentence
inline constexpr struct width : mt::dim<"width", 4> {} width;
inline constexpr struct hidden : mt::dim<"hidden", 8> {} hidden;
inline constexpr struct experts : mt::dim<"experts", 8> {} experts;
inline constexpr struct choices : mt::dim<"choices", 2> {} choices;  // the experts of a word
// An expert serves two words of each sentence, and further words are dropped. Without a limit, use
// `dropless_mixture_of_experts`.
inline constexpr struct slots : mt::dim<"slots", 2> {} slots;

struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, length, width);
    auto [y, balance, dropped] =
        mt::nn::mixture_of_experts(s / "experts", x, length, width, experts, choices, slots, hidden);
    // To train, add `balance` to the loss, times a small factor. It is small if all experts get equally many words.
    s.output("y", y);
    s.output("dropped", dropped);  // the share of choices for which an expert had no slot
  }
};

inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
// Each rank computes some sentences and has all experts.
struct by_batch : mt::layout<mt::shard<batch, data>> {};
// Each rank has some sentences and some experts. The router of a rank chooses among all experts. An expert sees its
// words of all sentences. Therefore words go to their experts in one all-to-all, and the results return in another.
struct by_experts : mt::layout<mt::shard<batch, data>, mt::shard<experts, data>,
                               mt::in<"router", mt::replicate<experts>>, mt::in<"expert", mt::replicate<batch>>> {};
// Each rank has a part of every expert.
struct by_hidden : mt::layout<mt::shard<hidden, data>> {};

mt::array<float, batch, length, width> const x = [] {
  mt::array<float, batch, length, width> a;
  int n = 0;
  for (float& e : a) e = std::sin(static_cast<float>(++n));
  return a;
}();

struct answer {
  mt::array<float, batch, length, width> y;
  int dropped = 0;
};
// The plain computation, with the weights of the store. The biases are zeros, because nothing was trained.
answer computed_plainly(mt::store& weights) {
  mt::array<float, width, experts> const gate(weights.get<float>("experts/router/gate"));
  mt::array<float, experts, width, hidden> const up(weights.get<float>("experts/expert/up/weight"));
  mt::array<float, experts, hidden, width> const down(weights.get<float>("experts/expert/down/weight"));
  answer all;
  for (int b = 0; b < 8; ++b) {
    // The router gives each word a score for each expert, and `best` begins with the experts of the highest scores.
    std::array<std::array<float, 8>, 6> score{};
    std::array<std::array<int, 8>, 6> best{{}};
    for (std::size_t t = 0; t < 6; ++t) {
      for (int e = 0; e < 8; ++e) {
        best[t][static_cast<std::size_t>(e)] = e;
        for (int w = 0; w < 4; ++w)
          score[t][static_cast<std::size_t>(e)] += x(batch(b), length(int(t)), width(w)) * gate(width(w), experts(e));
      }
      std::ranges::sort(best[t], std::greater(), [&](int e) { return score[t][static_cast<std::size_t>(e)]; });
    }
    // An expert first serves the words that prefer it most, and then those that prefer it second.
    std::array<int, 8> served{};
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t t = 0; t < 6; ++t) {
        auto const e = static_cast<std::size_t>(best[t][c]), other = static_cast<std::size_t>(best[t][1 - c]);
        if (++served[e] > 2) {
          ++all.dropped;
          continue;
        }
        // The softmax over both experts weighs their results.
        float const share = 1 / (1 + std::exp(score[t][other] - score[t][e]));
        for (int h = 0; h < 8; ++h) {
          float a = 0;
          for (int w = 0; w < 4; ++w)
            a += x(batch(b), length(int(t)), width(w)) * up(experts(int(e)), width(w), hidden(h));
          float const gelu = a / 2 * (1 + std::erf(a / std::sqrt(2.f)));
          for (int w = 0; w < 4; ++w)
            all.y(batch(b), length(int(t)), width(w)) += share * gelu * down(experts(int(e)), hidden(h), width(w));
        }
      }
  }
  return all;
}

// Runs the program, compares it with the plain computation, and returns the collectives of the step.
template <class Layout>
mt::step_traffic run(std::int64_t ranks) {
  auto job = mt::job::as_threads();
  mt::store weights(job);
  mt::executable<program, mesh, Layout> step(weights, data(ranks));
  auto const result = step(mt::feed<"x">(x));
  answer const expected = computed_plainly(weights);
  CHECK(max(abs(result.template get<"y">().gather() - expected.y)) < 1e-5f);
  // There are 8 · 6 · 2 choices. The same ones are dropped under every layout.
  CHECK(float(result.template get<"dropped">()) * 96 == doctest::Approx(expected.dropped));
  CHECK(expected.dropped > 0);
  return mt::traffic_of(step.graph(), step.planned());
}
}  // namespace lesson
using namespace lesson;

TEST_CASE("the result is that of plain loops, under every layout on any number of ranks") {
  for (int const ranks : {1, 2, 3, 4, 6, 8}) {
    run<by_batch>(ranks);
    run<by_experts>(ranks);
    run<by_hidden>(ranks);
  }
}

TEST_CASE("words move only if experts are sharded") {
  CHECK(run<by_batch>(4).all_to_alls == 0);
  CHECK(run<by_experts>(4).all_to_alls == 2);
  // Each rank has a part of the hidden values of every word, so the results are partial sums until an all-reduce.
  mt::step_traffic const parts = run<by_hidden>(4);
  CHECK(parts.all_to_alls == 0);
  CHECK(parts.all_reduces > 0);
}
