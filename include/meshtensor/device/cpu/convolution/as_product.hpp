// SPDX-License-Identifier: Apache-2.0
// Finds convolutions that are plain matrix products: 1x1 kernels without strides and padding.
#pragma once

#include <optional>

#include "meshtensor/device/cpu/convolution/walk.hpp"
#include "meshtensor/device/cpu/matmul/problem.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Returns the matrix product that equals an ordered problem, with the operands of convolution_plan. Returns nothing if
/// the convolution is no product.
inline std::optional<matmul_problem> product_of(convolution_problem const& p) {
  for (int i = 0; i < p.dims; ++i) {
    convolution_dim const& d = p.dim[i];
    if (d.kernel != 1 || d.stride != 1 || d.low != 0 || d.input != d.output) return {};
  }
  if (p.images == 0 || p.groups == 0 || p.input_channels == 0 || p.output_channels == 0 || p.output_positions() == 0)
    return {};
  window_sum const w = window_sums_of(p)[0];
  bool const weights = p.direction == convolution_direction::weights;
  // The positions become rows in the order [images, spatial…], with the innermost dim last.
  std::int64_t extent[] = {w.images, w.dim[0].positions, w.dim[1].positions, w.dim[2].positions};
  std::int64_t const source[] = {w.source.image, w.source.spatial[0], w.source.spatial[1], w.source.spatial[2]};
  std::int64_t const result[] = {w.positions.image, w.positions.spatial[0], w.positions.spatial[1],
                                 w.positions.spatial[2]};
  int inner = 3;
  while (inner > 0 && extent[inner] == 1) --inner;
  std::int64_t rows = extent[inner];
  matmul_problem m;
  m.a.type = m.b.type = m.c.type = p.type;
  matmul_operand& positions = weights ? m.b : m.c;
  matmul_operand& taps = weights ? m.c : m.b;
  auto const add_batch = [&](std::int64_t count, std::int64_t of_source, std::int64_t of_positions,
                             std::int64_t of_taps) {
    m.batch[m.batch_dims] = count;
    m.a.batch[m.batch_dims] = of_source, positions.batch[m.batch_dims] = of_positions;
    taps.batch[m.batch_dims++] = of_taps;
  };
  if (w.groups > 1) add_batch(w.groups, w.source.group, w.positions.group, w.taps.group);
  for (int i = 0; i < inner; ++i) {
    if (!weights && extent[i] > 1) add_batch(extent[i], source[i], result[i], 0);
    if (!weights) continue;
    // A gradient of the kernel sums over all positions, so one stride must lead through all of them.
    std::int64_t within = 1;
    for (int k = i + 1; k <= inner; ++k) within *= extent[k];
    if (extent[i] > 1 && (source[i] != source[inner] * within || result[i] != result[inner] * within)) return {};
    rows *= extent[i];
  }
  m.m = weights ? w.a : rows, m.k = weights ? rows : w.a, m.n = w.b;
  m.a.row = weights ? w.source.a : source[inner], m.a.column = weights ? source[inner] : w.source.a;
  positions.row = result[inner], positions.column = w.positions.b;
  taps.row = w.taps.a, taps.column = w.taps.b;
  return m;
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
