// SPDX-License-Identifier: Apache-2.0
// Says what the compiler of TPUs should tell of a lowered program: bytes of arguments in tiles, operations of products.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "meshtensor/emit/stablehlo/port.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/lower.hpp"

namespace tpu {

namespace mt = meshtensor;

/// The bytes that a TPU keeps for a tensor. The last dim fills lanes of 128 elements, the one before it up to 8 rows of
/// them; the compiler takes for these two whichever dims leave the least room empty.
inline std::int64_t bytes_in_tiles(mt::dtype type, std::vector<std::int64_t> const& extents) {
  auto const size = static_cast<std::int64_t>(mt::bytes_of(type)), packed = size < 4 ? 4 / size : 1;
  auto const power = [](std::int64_t n) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(n)));
  };
  auto const rounded = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
  std::int64_t all = 1;
  for (std::int64_t const n : extents) all *= n;
  if (extents.size() < 2) return size * rounded(all, std::clamp<std::int64_t>(power(all), 128 * packed, 1024));
  std::int64_t least = 0;
  for (std::int64_t const& lane : extents)
    for (std::int64_t const& row : extents) {
      if (&lane == &row) continue;
      std::int64_t const rows = rounded(row, std::clamp<std::int64_t>(power(row), packed, 8));
      std::int64_t const bytes = all / (lane * row) * rows * rounded(lane, 128) * size;
      least = least == 0 ? bytes : std::min(least, bytes);
    }
  return least;
}
inline std::int64_t bytes_in_tiles(mt::lowering const& l, mt::stablehlo_port const& p) {
  if (p.value == mt::no_id)  // seed and step are words of 8 bytes
    return bytes_in_tiles(p.kind == mt::stablehlo_port::number ? p.type_in(l.graph) : mt::dtype::i64, {});
  mt::value const& v = l.graph.values[p.value];
  std::vector<std::int64_t> extents;
  for (int i = 0; i < v.dims.count; ++i) extents.push_back(l.planned.numbers.local(v, i));
  return bytes_in_tiles(v.type, extents);
}

/// The share of the places of a window, over all of a dim, that are elements and not padding.
inline double share_of_elements(mt::module const& m, mt::binding const& b, mt::window_row const& w) {
  std::int64_t const in = b.extent[w.input], out = b.extent[w.output], wide = b.extent[w.kernel];
  std::int64_t const low = mt::known_position(m, b, w.low).value();
  std::int64_t count = 0;
  for (std::int64_t o = 0; o < out; ++o)
    for (std::int64_t k = 0; k < wide; ++k) {
      std::int64_t const at = w.stride * o + w.dilation * k - low;
      count += at >= 0 && at < in ? 1 : 0;
    }
  return static_cast<double>(count) / static_cast<double>(out * wide);
}
/// Whether an einsum multiplies matrices: each operand has dims of the result that the other lacks. The compiler makes
/// others sums of products of elements.
inline bool is_of_matrices(mt::module const& m, mt::node const& n) {
  auto const only = [&](int operand, int other) {
    mt::shape const kept = mt::without(m.result_value(n).dims, m.operand_value(n, other).dims);
    return mt::without(kept, m.operand_value(n, operand).dims).count < kept.count;
  };
  return n.operands.count == 2 && only(0, 1) && only(1, 0);
}
/// The operations that we count: of products of matrices and convolutions, in these without those of padding, which the
/// compiler leaves out; and of all other nodes.
struct planned_work {
  double products = 0, others = 0;

  double all() const { return products + others; }
};
inline planned_work planned_work_of(mt::lowering const& l) {
  mt::module const& m = l.graph;
  auto const& numbers = l.planned.numbers;
  mt::run_counts const runs = mt::run_counts_of(m, numbers);
  planned_work work;
  for (int i = 0; i < m.node_count; ++i) {
    mt::node const& n = m.nodes[i];
    bool const is_product =
        mt::declared(m, n).work == mt::work_kind::product && (n.kind != mt::primitive::einsum || is_of_matrices(m, n));
    double of_node = static_cast<double>(runs.of[n.region] * mt::flops_of(m, numbers, n));
    if (n.kind == mt::primitive::conv) {
      auto const a = mt::conv_attributes::of(n);
      for (int k = a.first; k < a.first + a.count; ++k) of_node *= share_of_elements(m, numbers, m.windows[k]);
    }
    (is_product ? work.products : work.others) += of_node;
  }
  return work;
}

}  // namespace tpu
