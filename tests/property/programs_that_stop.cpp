// SPDX-License-Identifier: Apache-2.0
// Loops that end for each index of a map by its own condition, beside each index alone: a decoder, adaptive computation
// time, and Newton's method.
// passes: start-up
// timeout: 300
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/put.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/while_loop.hpp"
#include "property/index_by_index.hpp"

using namespace property;
using mt::to;

namespace {
inline constexpr struct width : mt::dim<"width", 3> {} width;
inline constexpr struct next_width : mt::dim<"next_width", 3> {} next_width;
}  // namespace

// ---- A decoder in which each sentence stops at its own end ----------------------------------------------------------

namespace {

inline constexpr struct sentence : mt::dim<"sentence", 5> {} sentence;
inline constexpr struct length : mt::dim<"length", 6> {} length;
inline constexpr struct vocab : mt::dim<"vocab", 4> {} vocab;

template <bool IsAlone>
struct decode {
  constexpr void operator()(mt::scope auto s) const {
    auto start = input_of<IsAlone>(s, "start", s.real(), sentence, width);
    auto cell = s.parameter("cell", width, next_width, mt::normal(1.5));
    auto table = s.parameter("table", vocab, next_width, mt::normal(1));
    auto scores = s.parameter("scores", width, vocab, mt::normal(2));
    auto [count, text, total] =
        map_or_alone<IsAlone>(s / "sentences", sentence, std::tuple(start), [&](mt::scope auto m, auto state) {
          auto [n, word, last, words, score] = mt::while_loop(
              m / "decode", mt::at_most(6), [](auto, auto w, auto, auto, auto) { return w != 0; },
              [&](mt::scope auto, auto w, auto h, auto seen, auto sum_so_far) {
                auto next = rename(tanh(einsum(h, cell, to(next_width)) + gather(table, w, vocab)), next_width, width);
                auto logs = log_softmax(einsum(next, scores, to(vocab)), vocab);
                auto best = mt::cast<mt::i32>(argmax(logs, vocab));
                auto place = mt::cast<mt::i32>(sum(mt::cast<mt::i64>(seen > 0), length));
                return std::tuple(best, next, put(seen, best, length, place), sum_so_far + max(logs, vocab));
              },
              mt::full(m, 1, mt::i32), state, mt::full(m, 0, mt::i32, to(length)), mt::full(m, 0, m.real()));
          return std::tuple(n, words, score);
        });
    s.output("count", count), s.output("text", text), s.output("total", total);
    auto [a, b, c, d] = gradient(sum(total), start, cell, table, scores);
    s.output("by_start", a), s.output("by_cell", b), s.output("by_table", c), s.output("by_scores", d);
  }
};

}  // namespace

TEST_CASE("each sentence of a decoder stops at its own end") {
  std::set<double> counts;
  at_least(24, hold_index_by_index<decode<false>, decode<true>>("decoder", {.dim = "sentence", .extent = 5, .steps = 3},
                                                                [&](mt::blocks const& given) {
                                                                  for (int i = 0; i < 5; ++i)
                                                                    counts.insert(given.at("count").number_at(i));
                                                                }));
  CHECK(counts.size() > 2);
}

// ---- Adaptive computation time: Graves, arXiv:1603.08983 ------------------------------------------------------------

namespace {

inline constexpr struct example : mt::dim<"example", 4> {} example;

template <bool IsAlone>
struct ponder {
  constexpr void operator()(mt::scope auto s) const {
    auto x = input_of<IsAlone>(s, "x", s.real(), example, width);
    auto cell = s.parameter("cell", width, next_width, mt::normal(1));
    auto halt = s.parameter("halt", width, mt::normal(1));
    auto [loss, count, by_halt] =
        map_or_alone<IsAlone>(s / "examples", example, std::tuple(x), [&](mt::scope auto m, auto one) {
          auto zero = mt::full(m, 0, m.real());
          auto [n, state, used, mean_state, remainder] = mt::while_loop(
              m / "ponder", mt::at_most(7), [](auto, auto, auto p, auto, auto) { return p < 0.99; },
              [&](mt::scope auto, auto h, auto p, auto y, auto) {
                auto next =
                    rename(tanh(einsum(h, cell, to(next_width)) + rename(one, width, next_width)), next_width, width);
                auto wish = sigmoid(sum(next * halt, width) - 0.5);
                auto ends = p + wish >= 0.99;
                auto share = select(ends, 1 - p, wish);
                return std::tuple(next, p + share, y + share * next, select(ends, 1 - p, wish));
              },
              one, zero, 0 * one, zero);
          auto cost = mt::cast(n, m.real()) + remainder;
          auto l = sum(mean_state * mean_state, width) + 0.1 * cost;
          return std::tuple(l, n, gradient(l, halt));
        });
    s.output("loss", loss), s.output("count", count), s.output("by_halt", by_halt);
    auto [a, b, c] = gradient(sum(loss), x, cell, halt);
    s.output("by_x", a), s.output("by_cell", b), s.output("sum_by_halt", c);
  }
};

}  // namespace

TEST_CASE("each example ponders as long as it wants to") {
  std::set<double> counts;
  at_least(24, hold_index_by_index<ponder<false>, ponder<true>>("ponder",
                                                                {.dim = "example",
                                                                 .extent = 4,
                                                                 .steps = 3,
                                                                 .fill =
                                                                     [](mt::blocks& inputs, int) {
                                                                       for (int k = 0; k < 12; ++k)
                                                                         inputs["x"].set(
                                                                             k, (1 + k / 3) * inputs["x"].number_at(k));
                                                                     }},
                                                                [&](mt::blocks const& given) {
                                                                  for (int i = 0; i < 4; ++i)
                                                                    counts.insert(given.at("count").number_at(i));
                                                                }));
  CHECK(counts.size() > 2);
}

// ---- Newton's method with the theorem of implicit functions ---------------------------------------------------------

namespace {

inline constexpr struct element : mt::dim<"element", 5> {} element;

/// The y for which y³ + a y = x. Its derivative needs no iteration: (3 y² + a) dy = dx - y da.
constexpr auto root(mt::scope auto m, auto x, auto a) {
  return mt::composite_with_gradient(
      "root",
      [&](auto const& of, auto const& by) {
        auto gap = [&](auto y) { return y * y * y + by * y - of; };
        auto [n, y] = mt::while_loop(
            m / "newton", mt::at_most(60), [&](auto, auto v) { return abs(gap(v)) > 1e-13; },
            [&](auto, auto v) { return v - gap(v) / (3 * v * v + by); }, of);
        return y;
      },
      [](auto const&, auto const& by, auto const& y, auto const& dy) {
        auto derivative = 3 * y * y + by;
        return std::tuple(dy / derivative, -dy * y / derivative);
      },
      x, a);
}
template <bool IsAlone>
struct newton {
  constexpr void operator()(mt::scope auto s) const {
    auto x = input_of<IsAlone>(s, "x", s.real(), element);
    auto a = s.input("a", s.real());
    auto y = map_or_alone<IsAlone>(s / "elements", element, std::tuple(x),
                                   [&](mt::scope auto m, auto one) { return root(m, one, a); });
    s.output("y", y);
    auto [dx, da] = gradient(sum(y * y), x, a);
    s.output("by_x", dx), s.output("by_a", da);
  }
};

}  // namespace

TEST_CASE("Newton's method ends for each element by itself, and its gradient is that of the theorem") {
  at_least(24, hold_index_by_index<newton<false>, newton<true>>(
                   "newton",
                   {.dim = "element",
                    .extent = 5,
                    .steps = 2,
                    .fill =
                        [](mt::blocks& inputs, int step) {
                          double const x[] = {0, 1e3, -0.25, 30, 1e-9};
                          for (int i = 0; i < 5; ++i) inputs["x"].set(i, x[(i + step) % 5]);
                          inputs["a"].set(0, 1.5);
                        }},
                   [number = 0](mt::blocks const& given) mutable {
                     double const x[] = {0, 1e3, -0.25, 30, 1e-9};
                     double by_a = 0;
                     for (int i = 0; i < 5; ++i) {
                       double const y = given.at("y").number_at(i), derivative = 3 * y * y + 1.5;
                       CHECK(y * y * y + 1.5 * y == doctest::Approx(x[(i + number) % 5]).epsilon(1e-12));
                       CHECK(given.at("by_x").number_at(i) == doctest::Approx(2 * y / derivative).epsilon(1e-12));
                       by_a -= 2 * y * y / derivative;
                     }
                     CHECK(given.at("by_a").number_at(0) == doctest::Approx(by_a).epsilon(1e-12));
                     ++number;
                   }));
}
