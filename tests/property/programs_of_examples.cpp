// SPDX-License-Identifier: Apache-2.0
// Examples in a map, beside each of them alone: private gradients of an image network, trees, and tokens that choose an
// expert.
// passes: start-up
// timeout: 300
#include "meshtensor/nn/nn.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/each.hpp"
#include "meshtensor/op/full.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/pool.hpp"
#include "meshtensor/op/put.hpp"
#include "meshtensor/op/switch_case.hpp"
#include "property/index_by_index.hpp"

using namespace property;
using mt::to;

// ---- Per-example gradients: Abadi et al., arXiv:1607.00133 ----------------------------------------------------------

namespace {

inline constexpr struct batch : mt::dim<"batch", 3> {} batch;
inline constexpr struct rows : mt::dim<"rows", 4> {} rows;
inline constexpr struct cols : mt::dim<"cols", 4> {} cols;
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct cols_2 : mt::dim<"cols_2", mt::divided(cols, 2)> {} cols_2;
inline constexpr struct k_rows : mt::dim<"k_rows", 3> {} k_rows;
inline constexpr struct k_cols : mt::dim<"k_cols", 3> {} k_cols;
inline constexpr struct c_in : mt::dim<"c_in", 1> {} c_in;
inline constexpr struct c_out : mt::dim<"c_out", 2> {} c_out;
inline constexpr struct classes : mt::dim<"classes", 3> {} classes;

/// The loss of one image, with a kernel, a matrix and a bias.
constexpr auto loss_of(auto image, auto label, auto kernel, auto weight, auto bias) {
  auto h = conv(image, kernel, to(rows, cols, c_out), mt::window(rows, rows, k_rows, {.padding = mt::same_padding}),
                mt::window(cols, cols, k_cols, {.padding = mt::same_padding}));
  auto pooled =
      max_pool(relu(h), mt::window(rows, rows_2, 2, {.stride = 2}), mt::window(cols, cols_2, 2, {.stride = 2}));
  return mt::nn::cross_entropy(einsum(pooled, weight, to(classes)) + bias, label, classes);
}
template <bool IsAlone>
struct train_privately {
  constexpr void operator()(mt::scope auto s) const {
    auto images = input_of<IsAlone>(s, "image", s.real(), batch, rows, cols, c_in);
    auto labels = input_of<IsAlone>(s, "label", mt::i32, batch);
    auto kernel = s.parameter("kernel", k_rows, k_cols, c_in, c_out, mt::normal(0.5));
    auto weight = s.parameter("weight", rows_2, cols_2, c_out, classes, mt::normal(0.5));
    auto bias = s.parameter("bias", classes);
    auto [loss, norm, of_kernel, of_weight, of_bias] = map_or_alone<IsAlone>(
        s / "examples", batch, std::tuple(images, labels), [&](mt::scope auto, auto image, auto label) {
          auto l = loss_of(image, label, kernel, weight, bias);
          auto [a, b, c] = gradient(l, kernel, weight, bias);
          auto length = sqrt(sum(a * a) + sum(b * b) + sum(c * c));
          auto share = 1 / maximum(1, length / 0.5);
          return std::tuple(l, length, a * share, b * share, c * share);
        });
    s.output("loss", loss), s.output("norm", norm);
    s.output("of_kernel", of_kernel), s.output("of_weight", of_weight), s.output("of_bias", of_bias);
    if constexpr (IsAlone) {
      s.output("sum_of_kernel", of_kernel);  // outside of the map it is the sum of those of all examples
    } else {
      auto learn = [&](mt::named_here const& what, auto w, auto of_all, auto dims) {
        auto noise = mt::normal(s / what, s.real(), dims);
        s.update(w, w - 0.1 * (sum(of_all, batch) + 0.3 * 0.5 * noise) / extent(batch));
        return noise;
      };
      s.output("sum_of_kernel", sum(of_kernel, batch));
      s.output("noise", learn("for_kernel", kernel, of_kernel, to(k_rows, k_cols, c_in, c_out)));
      learn("for_weight", weight, of_weight, to(rows_2, cols_2, c_out, classes));
      learn("for_bias", bias, of_bias, to(classes));
      s.output("before", kernel), s.output("after", s.next(kernel));
    }
  }
};

}  // namespace

TEST_CASE("private gradients of an image network are those of a loop over the examples") {
  at_least(24, hold_index_by_index<train_privately<false>, train_privately<true>>(
                   "private gradients",
                   {.dim = "batch",
                    .extent = 3,
                    .steps = 2,
                    .assignments = 12,
                    .fill =
                        [](mt::blocks& inputs, int step) {
                          for (int i = 0; i < 3; ++i) inputs["label"].set(i, (i + step) % 3);
                        }},
                   [](mt::blocks const& given) {
                     int clipped = 0;
                     for (int i = 0; i < 3; ++i) clipped += given.at("norm").number_at(i) > 0.5;
                     CHECK(clipped > 0);
                     for (int k = 0; k < 18; ++k) {
                       double const step =
                           given.at("sum_of_kernel").number_at(k) + 0.15 * given.at("noise").number_at(k);
                       CHECK(given.at("after").number_at(k) ==
                             doctest::Approx(given.at("before").number_at(k) - 0.1 * step / 3).epsilon(1e-10));
                     }
                   }));
}

// ---- A network over trees of different shapes -----------------------------------------------------------------------

namespace {

inline constexpr struct tree : mt::dim<"tree", 4> {} tree;
inline constexpr struct node : mt::dim<"node", 5> {} node;  // children come before their parents
inline constexpr struct known : mt::dim<"known", node + 0> {} known;
inline constexpr struct words : mt::dim<"words", 6> {} words;
inline constexpr struct width : mt::dim<"width", 3> {} width;
inline constexpr struct next_width : mt::dim<"next_width", 3> {} next_width;

template <bool IsAlone>
struct trees {
  constexpr void operator()(mt::scope auto s) const {
    auto lefts = input_of<IsAlone>(s, "left", mt::i32, tree, node);  // the position of a child, -1 for a leaf
    auto rights = input_of<IsAlone>(s, "right", mt::i32, tree, node);
    auto leaves = input_of<IsAlone>(s, "word", mt::i32, tree, node);  // the word of a leaf, -1 for another node
    auto tops = input_of<IsAlone>(s, "top", mt::i32, tree);
    auto table = s.parameter("table", words, width, mt::normal(1));
    auto by_left = s.parameter("by_left", width, next_width), by_right = s.parameter("by_right", width, next_width);
    auto [root, by_table] = map_or_alone<IsAlone>(
        s / "trees", tree, std::tuple(lefts, rights, leaves, tops),
        [&](mt::scope auto m, auto left, auto right, auto word, auto top) {
          auto [all, sizes] =
              mt::scan(m / "nodes", node, mt::full(m, 0, m.real(), to(known, width)),
                       std::tuple(left, right, word, iota(m, node, mt::i32)),
                       [&](mt::scope auto, auto seen, auto l, auto r, auto w, auto place) {
                         auto h = tanh(einsum(gather(seen, l, known), by_left, to(next_width)) +
                                       einsum(gather(seen, r, known), by_right, to(next_width)) +
                                       rename(gather(table, w, words), width, next_width));
                         return std::tuple(put(seen, rename(h, next_width, width), known, place), sum(h * h));
                       });
          auto top_of_tree = gather(all, top, known);
          return std::tuple(top_of_tree, gradient(sum(top_of_tree), table));
        });
    s.output("root", root), s.output("by_table", by_table);
    auto [a, b, c] = gradient(sum(root * root), table, by_left, by_right);
    s.output("sum_by_table", a), s.output("sum_by_left", b), s.output("sum_by_right", c);
  }
};

}  // namespace

TEST_CASE("a network over a batch of different trees") {
  at_least(
      24, hold_index_by_index<trees<false>, trees<true>>(
              "trees",
              {.dim = "tree", .extent = 4, .steps = 1, .fill = [](mt::blocks& inputs, int) {
                 int const left[4][5] = {{-1, -1, 0, -1, 2}, {-1, -1, -1, 1, 0}, {-1, 0, 0, 0, 0}, {-1, -1, 1, -1, 3}};
                 int const right[4][5] = {{-1, -1, 1, -1, 3}, {-1, -1, -1, 2, 3}, {-1, 0, 0, 0, 0}, {-1, -1, 0, -1, 2}};
                 int const word[4][5] = {{0, 1, -1, 2, -1}, {3, 4, 5, -1, -1}, {1, 9, 9, 9, 9}, {2, 2, -1, 0, -1}};
                 int const top[4] = {4, 4, 0, 4};  // the third tree is a leaf. What comes behind it is no part of it
                 for (int t = 0; t < 4; ++t) {
                   inputs["top"].set(t, top[t]);
                   for (int n = 0; n < 5; ++n)
                     inputs["left"].set(5 * t + n, left[t][n]), inputs["right"].set(5 * t + n, right[t][n]),
                         inputs["word"].set(5 * t + n, word[t][n]);
                 }
               }}));
}

// ---- A mixture of experts -------------------------------------------------------------------------------------------

namespace {

inline constexpr struct token : mt::dim<"token", 6> {} token;
inline constexpr struct experts : mt::dim<"experts", 3> {} experts;

template <bool IsAlone>
struct mixture {
  constexpr void operator()(mt::scope auto s) const {
    auto x = input_of<IsAlone>(s, "x", s.real(), token, width);
    auto forced = input_of<IsAlone>(s, "forced", mt::i64, token);  // 0, or what leads to no expert
    auto router = s.parameter("router", width, experts, mt::normal(2));
    auto first = s.parameter("first", width), second = s.parameter("second", width);
    auto [y, masked, way] =
        map_or_alone<IsAlone>(s / "tokens", token, std::tuple(x, forced), [&](mt::scope auto m, auto one, auto away) {
          auto gates = softmax(einsum(one, router, to(experts)), experts);
          auto which = argmax(gates, experts) + away;
          auto of_first = [&](auto v) { return tanh(sum(v * first, width)); };
          auto of_second = [&](auto v) { return sum(v * second, width) * sum(first * v, width); };
          auto of_last = [&](auto v) { return log(sum(v * v, width)); };
          auto chosen = mt::switch_case(
              m / "expert", which, [&](auto) { return of_first(one); }, [&](auto) { return of_second(one); },
              [&](auto) { return of_last(one); });
          auto mask = [&](auto is, auto v) { return select(is, v, 0); };
          auto by_mask = mask(which == 0, of_first(one)) + mask(which == 1, of_second(one)) +
                         mask(which < 0 || which > 1, of_last(one));
          auto gate = max(gates, experts);
          return std::tuple(chosen * gate, by_mask * gate, which);
        });
    s.output("y", y), s.output("masked", masked), s.output("which", way);
    auto outputs = [&](mt::named_here const& of_first, mt::named_here const& of_router, mt::named_here const& of_x,
                       auto result) {
      auto [a, b, c] = gradient(sum(result * result), first, router, x);
      s.output(of_first, a), s.output(of_router, b), s.output(of_x, c);
    };
    outputs("by_first", "by_router", "by_x", y);
    outputs("masked_by_first", "masked_by_router", "masked_by_x", masked);
  }
};

}  // namespace

TEST_CASE("a mixture of experts by branches is the one by masks") {
  std::set<double> ways;
  at_least(24, hold_index_by_index<mixture<false>, mixture<true>>(
                   "mixture",
                   {.dim = "token",
                    .extent = 6,
                    .steps = 2,
                    .fill =
                        [](mt::blocks& inputs, int step) {
                          for (int i = 0; i < 6; ++i)
                            inputs["forced"].set(i, i == 4 ? -5 : i == 5 ? std::int64_t{1} << 40 : i == step ? 1 : 0);
                        }},
                   [&](mt::blocks const& given) {
                     for (int i = 0; i < 6; ++i) ways.insert(given.at("which").number_at(i));
                     auto const same = [&](char const* a, char const* b) {
                       for (std::int64_t k = 0; k < given.at(a).size(); ++k)
                         CHECK(given.at(a).number_at(k) == doctest::Approx(given.at(b).number_at(k)).epsilon(1e-10));
                     };
                     same("y", "masked"), same("by_first", "masked_by_first"), same("by_router", "masked_by_router");
                     same("by_x", "masked_by_x");
                   }));
  CHECK(ways.size() > 4);
}
