// SPDX-License-Identifier: Apache-2.0
// Words that the translating example draws, and bytes that the Transformer example draws, are distributed as they say:
// chi-square over many draws with a fixed seed, which other distributions do not pass.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "../../../examples/translate/word_by_word.hpp"
#include "meshtensor/base/philox.hpp"
#include "meshtensor/datasets/text/sample.hpp"
#include "meshtensor/eager/eager.hpp"

namespace mt = meshtensor;
using namespace translation;

namespace {

constexpr std::int64_t draws = 20000;
using numbers = std::vector<double>;

/// Of two that cannot be said one is the likeliest; two others are alike.
numbers const scores = {3, 0.25, 2.5, 1.5, -1, 0.75, 2, 0.75, -2, 1, -0.5, 0};

struct draw {
  constexpr void operator()(mt::scope auto s) const {
    auto const logits = s.input("logits", mt::f32, vocab);
    s.output("word", drawn_word(s / "word", broadcast(logits, to(row, beam, vocab))));
  }
};

/// How often each word is drawn.
numbers counts_of(std::int64_t top_k, double top_p, double temperature) {
  auto const job = mt::job::in_lockstep();
  mt::store store(job, 7);
  std::vector<float> const given(scores.begin(), scores.end());
  auto const size = static_cast<std::int64_t>(given.size());
  mt::eager s(store, row(draws), beam(1), vocab(size), choices(top_k), offered(top_k + 2), part(1), word(size),
              mt::feed<"logits">(given), mt::set<"top_p">(top_p), mt::set<"temperature">(temperature));
  numbers counts(given.size());
  for (std::int32_t w : s.run(draw{}).get<std::int32_t>("word")) ++counts[static_cast<std::size_t>(w)];
  return counts;
}

/// What each word should be drawn with; `counted`: whether what cannot be said counts beside the others.
numbers wanted(std::size_t top_k, double top_p, double temperature, bool counted = false) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  auto const unsaid = [](std::size_t w) { return w == padding || w == begin; };
  numbers p(scores.size());
  double all = 0;
  for (std::size_t w : order) all += unsaid(w) && !counted ? 0 : p[w] = std::exp(scores[w] / temperature);
  for (double& each : p) each /= all;
  std::erase_if(order, unsaid);
  std::ranges::sort(order, {}, [&](std::size_t w) { return std::pair(-p[w], w); });
  numbers r(scores.size());
  double before = 0, kept = 0;
  for (std::size_t k = 0; k < top_k && (k == 0 || before < top_p); ++k)
    r[order[k]] = p[order[k]], before += p[order[k]], kept += p[order[k]];
  for (double& each : r) each /= kept;
  return r;
}

/// How many standard deviations chi-square lies above its mean; infinite where what cannot be was counted.
double surprise(numbers const& counts, numbers const& likely) {
  double const total = std::accumulate(counts.begin(), counts.end(), 0.0);
  double square = 0, freedom = -1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (likely[i] == 0 && counts[i] != 0) return HUGE_VAL;
    if (likely[i] == 0) continue;
    double const mean = total * likely[i];
    square += (counts[i] - mean) * (counts[i] - mean) / mean, freedom += 1;
  }
  return freedom == 0 ? square : (square - freedom) / std::sqrt(2 * freedom);
}
constexpr double as_usual = 5, unlikely = 20;

}  // namespace

TEST_CASE("words are drawn from the likeliest, by their probabilities") {
  struct how {
    std::int64_t top_k;
    double top_p, temperature;
  };
  for (how const& h : {how{10, 1, 1},
                       {10, 1, 0.7},
                       {10, 1, 1.5},
                       {4, 1, 1},
                       {1, 1, 1},
                       {10, 0.5, 1},
                       {10, 0.8, 1.2},
                       {5, 0.75, 0.8},
                       {10, 0, 1}}) {
    CAPTURE(h.top_k);
    CAPTURE(h.top_p);
    CAPTURE(h.temperature);
    numbers const counts = counts_of(h.top_k, h.top_p, h.temperature);
    auto const k = static_cast<std::size_t>(h.top_k);
    CHECK(counts[padding] + counts[begin] == 0);
    CHECK(surprise(counts, wanted(k, h.top_p, h.temperature)) < as_usual);
    if (h.top_k == 1 || h.top_p == 0) continue;
    CHECK(surprise(counts, wanted(k, h.top_p, h.temperature * 1.3)) > unlikely);
    if (h.top_p == 1) CHECK(surprise(counts, wanted(k - 1, 1, h.temperature)) > unlikely);
    else CHECK(surprise(counts, wanted(k, h.top_p, h.temperature, true)) > unlikely);
  }
}

TEST_CASE("bytes are drawn by their probabilities") {
  std::vector<float> likely(256);
  for (std::size_t i = 0; i < likely.size(); ++i) likely[i] = i % 5 == 2 ? 0 : static_cast<float>(i % 17 + 1);
  double const all = std::accumulate(likely.begin(), likely.end(), 0.0);
  numbers counts(256), p(likely.begin(), likely.end()), other(256);
  for (double& each : p) each /= all;
  for (std::size_t i = 0; i < other.size(); ++i) other[i] = p[i] * p[i];
  double const squares = std::accumulate(other.begin(), other.end(), 0.0);
  for (double& each : other) each /= squares;
  for (std::uint64_t i = 0; i < 100000; ++i)
    ++counts[mt::datasets::draw_byte(likely, mt::random_uniform<double>(mt::random_stream(mt::random_key{}, 0), i))];
  CHECK(surprise(counts, p) < as_usual);
  CHECK(surprise(counts, other) > unlikely);
}
