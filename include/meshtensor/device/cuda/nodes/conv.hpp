// SPDX-License-Identifier: Apache-2.0
// Runs conv on the GPU by a product of matrices, if possible, and otherwise by a loop.
#pragma once

#include <memory>
#include <optional>

#include "meshtensor/device/cuda/nodes/conv/loop.hpp"
#include "meshtensor/device/cuda/nodes/conv/unfolding.hpp"
#include "meshtensor/device/cuda/nodes/node_setup.hpp"
#include "meshtensor/device/cuda/product.hpp"

namespace meshtensor::cuda {

namespace detail {

/// Whether a product of matrices is worth its unfolded operand. It is not for many small products, for example those of
/// single channels.
inline bool is_for_matrices(view const& unfolded, view const& other, view const& y) {
  std::int64_t batch = 1, columns = 1;
  for (int i = 0; i < other.count; ++i)
    if (y.find(other.dim[i]) >= 0) (unfolded.find(other.dim[i]) >= 0 ? batch : columns) *= other.extent[i];
  return batch <= 64 && columns > 1;
}

}  // namespace detail

inline node_work conv_of(node_setup const& s) {
  preparation& p = s.p;
  view const *const operands = s.operands, &y = s.result;
  int const* const alignment = s.alignment;
  detail::unfolding const unfolded(p.m, s.n, operands, y);
  std::optional<detail::pair_product> made;
  if (unfolded.is_possible() && detail::is_for_matrices(unfolded.made(), operands[1], y)) {
    int const aligned[] = {unfolded.is_in_place() ? alignment[0] : 16, alignment[1], alignment[2]};
    made = detail::pair_product::make(p, s.copier, unfolded.made(), operands[1], y, aligned);
  }
  if (!made) return detail::convolution_loop(p.m, s.n, operands, y).prepare(p);
  std::int64_t const library = (static_cast<std::int64_t>(p.device.workspace_bytes()) + 255) / 256 * 256,
                     room = unfolded.is_in_place() ? 0 : (unfolded.made().bytes() + 255) / 256 * 256;
  p.reserve(static_cast<std::size_t>(library + room) + made->workspace_bytes());
  auto const pair = std::make_shared<detail::pair_product>(std::move(*made));
  prepared_kernel const unfold = unfolded.is_in_place() ? prepared_kernel{} : unfolded.prepare(p, alignment[0]);
  return [=](recording& to_do, evaluation const& e, address state, address workspace) {
    address x = e.operands[0].as<std::byte>();
    if (room != 0) {
      launch_arguments a = arguments_of(e, state);
      a.p[1] = workspace + library;
      to_do.launch(unfold, a);
      x = a.p[1];
    }
    pair->record(to_do, {x, e.operands[1].as<std::byte>(), e.results[0].as<std::byte>()}, workspace,
                 workspace + library + room);
  };
}

}  // namespace meshtensor::cuda
