// SPDX-License-Identifier: Apache-2.0
// The dims of the residual networks, and the table of their stages and depths.
#pragma once

#include <array>

#include <meshtensor/meshtensor.hpp>

namespace resnet {
namespace mt = meshtensor;

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

}  // namespace resnet
