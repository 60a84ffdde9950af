// SPDX-License-Identifier: Apache-2.0
// Residual networks of 18 to 152 layers that classify images: He et al., arXiv:1512.03385, table 1. As in torchvision,
// a bottleneck has its stride in the 3 x 3 convolution (v1.5).
//
// For example, ResNet-50 has 1 + 3 · (3 + 4 + 6 + 3) + 1 = 50 layers with weights:
//
//     image                      rows x cols, 3 colors
//     stem                       7 x 7 convolution that halves the image, then a max pool that halves it again
//     conv2_x                    3 blocks, each relu(inside(x) + x): `inside` has 3 convolutions with batch norms
//     conv3_x, conv4_x, conv5_x  4, 6 and 3 blocks. Each stage halves the image and doubles the channels
//     scores                     the mean over the image, then a linear layer
//
// All blocks of a stage but its first are one `repeat`, and every extent is chosen at start-up. Therefore two programs,
// one for each kind of block, serve all depths.
#pragma once

#include <type_traits>

#include <meshtensor/meshtensor.hpp>

#include "resnet/dims.hpp"

namespace resnet {
namespace mt = meshtensor;
using namespace mt::nn;
using mt::to;

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
