// SPDX-License-Identifier: Apache-2.0
// Residual networks of 18 to 152 layers that classify images: He et al., arXiv:1512.03385, table 1. As in torchvision,
// a bottleneck has its stride in the 3 x 3 convolution (v1.5).
//
// All blocks of a stage but its first are one `repeat`, and every extent is chosen at start-up. Therefore two programs,
// one for each kind of block, serve all depths.
#pragma once

#include <array>
#include <type_traits>

#include <meshtensor/meshtensor.hpp>

namespace resnet {
namespace mt = meshtensor;
using namespace mt::nn;
using mt::to;

// ---- dims ----

inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct parts : mt::dim<"parts"> {} parts;  // microbatches of a batch
inline constexpr struct classes : mt::dim<"classes"> {} classes;
inline constexpr struct color : mt::dim<"color", 3> {} color;

// The rows and columns of the image are halved five times.
inline constexpr struct rows : mt::dim<"rows"> {} rows;
inline constexpr struct cols : mt::dim<"cols"> {} cols;
inline constexpr struct rows_2 : mt::dim<"rows_2", mt::divided(rows, 2)> {} rows_2;
inline constexpr struct cols_2 : mt::dim<"cols_2", mt::divided(cols, 2)> {} cols_2;
inline constexpr struct rows_4 : mt::dim<"rows_4", mt::divided(rows_2, 2)> {} rows_4;
inline constexpr struct cols_4 : mt::dim<"cols_4", mt::divided(cols_2, 2)> {} cols_4;
inline constexpr struct rows_8 : mt::dim<"rows_8", mt::divided(rows_4, 2)> {} rows_8;
inline constexpr struct cols_8 : mt::dim<"cols_8", mt::divided(cols_4, 2)> {} cols_8;
inline constexpr struct rows_16 : mt::dim<"rows_16", mt::divided(rows_8, 2)> {} rows_16;
inline constexpr struct cols_16 : mt::dim<"cols_16", mt::divided(cols_8, 2)> {} cols_16;
inline constexpr struct rows_32 : mt::dim<"rows_32", mt::divided(rows_16, 2)> {} rows_32;
inline constexpr struct cols_32 : mt::dim<"cols_32", mt::divided(cols_16, 2)> {} cols_32;

// Each stage has a number of equal blocks, its channels `out`, and the channels `inner` inside a block. `next` has the
// same extent as `inner`, because the convolution in the middle of a bottleneck needs two names.
inline constexpr struct stem_out : mt::dim<"stem_out"> {} stem_out;
inline constexpr struct blocks_2 : mt::dim<"blocks_2"> {} blocks_2;
inline constexpr struct blocks_3 : mt::dim<"blocks_3"> {} blocks_3;
inline constexpr struct blocks_4 : mt::dim<"blocks_4"> {} blocks_4;
inline constexpr struct blocks_5 : mt::dim<"blocks_5"> {} blocks_5;
inline constexpr struct out_2 : mt::dim<"out_2"> {} out_2;
inline constexpr struct out_3 : mt::dim<"out_3"> {} out_3;
inline constexpr struct out_4 : mt::dim<"out_4"> {} out_4;
inline constexpr struct out_5 : mt::dim<"out_5"> {} out_5;
inline constexpr struct inner_2 : mt::dim<"inner_2"> {} inner_2;
inline constexpr struct inner_3 : mt::dim<"inner_3"> {} inner_3;
inline constexpr struct inner_4 : mt::dim<"inner_4"> {} inner_4;
inline constexpr struct inner_5 : mt::dim<"inner_5"> {} inner_5;
inline constexpr struct next_2 : mt::dim<"next_2", inner_2 + 0> {} next_2;
inline constexpr struct next_3 : mt::dim<"next_3", inner_3 + 0> {} next_3;
inline constexpr struct next_4 : mt::dim<"next_4", inner_4 + 0> {} next_4;
inline constexpr struct next_5 : mt::dim<"next_5", inner_5 + 0> {} next_5;

/// The rows and columns of an image, or of a kernel.
template <mt::dim_type Rows, mt::dim_type Cols>
struct places {
  Rows rows;
  Cols cols;
};
inline constexpr places whole{rows, cols};
inline constexpr places halves{rows_2, cols_2};
inline constexpr places quarters{rows_4, cols_4};
inline constexpr places eighths{rows_8, cols_8};
inline constexpr places sixteenths{rows_16, cols_16};
inline constexpr places last{rows_32, cols_32};

inline constexpr struct rows_of_1 : mt::dim<"rows_of_1", 1> {} rows_of_1;
inline constexpr struct cols_of_1 : mt::dim<"cols_of_1", 1> {} cols_of_1;
inline constexpr struct rows_of_3 : mt::dim<"rows_of_3", 3> {} rows_of_3;
inline constexpr struct cols_of_3 : mt::dim<"cols_of_3", 3> {} cols_of_3;
inline constexpr struct rows_of_7 : mt::dim<"rows_of_7", 7> {} rows_of_7;
inline constexpr struct cols_of_7 : mt::dim<"cols_of_7", 7> {} cols_of_7;
inline constexpr places one_by_one{rows_of_1, cols_of_1};
inline constexpr places three_by_three{rows_of_3, cols_of_3};
inline constexpr places seven_by_seven{rows_of_7, cols_of_7};

// ---- the table: stages, and depths ----

template <class Blocks, class Places, class Out, class Inner, class Next>
struct stage {
  Blocks blocks;  // all that are equal, so without a first block that differs
  Places at;
  Out out;
  Inner inner;
  Next next;
};
inline constexpr stage conv2_x{blocks_2, quarters, out_2, inner_2, next_2};
inline constexpr stage conv3_x{blocks_3, eighths, out_3, inner_3, next_3};
inline constexpr stage conv4_x{blocks_4, sixteenths, out_4, inner_4, next_4};
inline constexpr stage conv5_x{blocks_5, last, out_5, inner_5, next_5};

/// A network of the table, with its number of layers and the blocks of each stage.
struct depth {
  int layers;
  bool has_bottlenecks;
  std::array<int, 4> blocks;
};
inline constexpr depth depths[] = {{18, false, {2, 2, 2, 2}},
                                   {34, false, {3, 4, 6, 3}},
                                   {50, true, {3, 4, 6, 3}},
                                   {101, true, {3, 4, 23, 3}},
                                   {152, true, {3, 8, 36, 3}}};

// ---- the model ----

/// The windows of a kernel from one image to another. Their stride is 2 if the other image is half as large.
constexpr auto windows(auto from, auto at, auto kernel) {
  int const stride = std::is_same_v<decltype(from), decltype(at)> ? 1 : 2;
  mt::window_options const how{.stride = stride, .padding = mt::centred_padding};
  return std::tuple(mt::window(from.rows, at.rows, kernel.rows, how), mt::window(from.cols, at.cols, kernel.cols, how));
}

/// A convolution from channels `c` to `d`, and its norm. The convolution has no bias, because the norm has one. He's
/// initialization counts the outputs that an input reaches (fan-out).
inline constexpr mt::layer conv_norm = [](mt::scope auto s, auto x, auto c, auto d, auto from, auto at, auto kernel,
                                          batch_norm_options how) {
  auto const [down, aside] = windows(from, at, kernel);
  auto const he = he_normal(kernel.rows, kernel.cols, d);
  return batch_norm(s / "norm", convolution(s / "conv", x, c, d, down, aside, he, no_bias), d, how);
};

/// The last norm of a block begins with gains of zero, so that the block begins as its shortcut.
constexpr batch_norm_options from_zero(batch_norm_options how) {
  how.gain = mt::zeros;
  return how;
}

/// A block of two 3 x 3 convolutions.
struct basic {
  static constexpr int widening = 1;
  static constexpr auto stem = out_2;  // the first stage has as many input as output channels
  static constexpr auto inside(mt::scope auto s, auto x, auto c, auto from, auto st, batch_norm_options how) {
    auto const h = relu(conv_norm(s / "1", x, c, st.inner, from, st.at, three_by_three, how));
    return conv_norm(s / "2", h, st.inner, st.out, st.at, st.at, three_by_three, from_zero(how));
  }
};

/// A block with a 3 x 3 convolution of fewer channels, between two 1 x 1 convolutions.
struct bottleneck {
  static constexpr int widening = 4;
  static constexpr auto stem = stem_out;
  static constexpr auto inside(mt::scope auto s, auto x, auto c, auto from, auto st, batch_norm_options how) {
    auto const h = relu(conv_norm(s / "1", x, c, st.inner, from, from, one_by_one, how));
    auto const g = relu(conv_norm(s / "2", h, st.inner, st.next, from, st.at, three_by_three, how));
    return conv_norm(s / "3", g, st.next, st.out, st.at, st.at, one_by_one, from_zero(how));
  }
};

/// The blocks of a stage. The shortcut of the first block is a projection if the block changes the image size or the
/// channels. Otherwise this block is like all others.
template <class Block>
inline constexpr mt::layer blocks_of = [](mt::scope auto s, auto x, auto c, auto from, auto st,
                                          batch_norm_options how) {
  auto const first = [&] {
    if constexpr (std::is_same_v<decltype(c), decltype(st.out)>) return x;
    else
      return relu(Block::inside(s / "first", x, c, from, st, how) +
                  conv_norm(s / "first/shortcut", x, c, st.out, from, st.at, one_by_one, how));
  }();
  return mt::repeat(s / "rest", st.blocks, first,
                    [&](mt::scope auto r, auto h) { return relu(Block::inside(r, h, st.out, st.at, st, how) + h); });
};

template <class Block>
inline constexpr mt::layer logits_of = [](mt::scope auto s, auto images, batch_norm_options how) {
  constexpr auto stem = Block::stem;
  auto const c1 = relu(conv_norm(s / "stem", images, color, stem, whole, halves, seven_by_seven, how));
  mt::window_options const overlapping{.stride = 2, .padding = mt::centred_padding};
  auto const pooled =
      max_pool(c1, mt::window(rows_2, rows_4, 3, overlapping), mt::window(cols_2, cols_4, 3, overlapping));
  auto const c2 = blocks_of<Block>(s / "conv2_x", pooled, stem, quarters, conv2_x, how);
  auto const c3 = blocks_of<Block>(s / "conv3_x", c2, out_2, quarters, conv3_x, how);
  auto const c4 = blocks_of<Block>(s / "conv4_x", c3, out_3, eighths, conv4_x, how);
  auto const c5 = blocks_of<Block>(s / "conv5_x", c4, out_4, sixteenths, conv5_x, how);
  return linear(s / "scores", mean(c5, last.rows, last.cols), out_5, classes);
};

// ---- mesh and layout ----

inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct over_rows : mt::axis<"rows"> {} over_rows;
inline constexpr struct over_cols : mt::axis<"cols"> {} over_cols;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<data, over_rows, over_cols, model> {};
struct layout : mt::layout<mt::shard<batch, data>, mt::shard<rows, over_rows>, mt::shard<cols, over_cols>,
                           mt::shard<inner_2, model>, mt::shard<inner_3, model>, mt::shard<inner_4, model>,
                           mt::shard<inner_5, model>, mt::shard<classes, model>> {};

}  // namespace resnet
