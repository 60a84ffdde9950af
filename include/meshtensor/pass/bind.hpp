// SPDX-License-Identifier: Apache-2.0
// Binds symbolic extents and mesh axes to numbers, from which each rank's part of every tensor follows.
// before: structure only.  after: extents, axis sizes and grains, or an error sentence.
// why: every pass before this one runs in the compiler, even if extents are known only at start-up.
#pragma once

#include "meshtensor/pass/bind/check_extents.hpp"
#include "meshtensor/pass/bind/check_positions.hpp"
#include "meshtensor/pass/bind/extents.hpp"
#include "meshtensor/pass/bind/parts.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// Binds a module to a mesh and to the extents given at start-up.
///
/// errors  S03 dims that stand for the same elements have different extents, a window has other places, or a slice or a
///         pad reaches beyond its dim; S10 a dim cannot have the extent that is given; S11 a dim has no extent;
///         S12 an axis has no size; S15 there is no such dim; S16 a dim made from others would have no element; S17 an
///         extent, or the bytes of all tensors, are too large to count; S18 the limit of a `while_loop`; S19 positions,
///         and T02 numbers, that do not fit their dtype
constexpr binding bind(module const& m, mesh_shape const& mesh, std::span<dim_extent const> given = {}) {
  binding b{};
  detail::bind_dims(m, given, b);
  if (b.ok()) detail::check_same_elements(m, b);
  if (b.ok()) detail::check_sizes(m, b);
  if (b.ok()) detail::check_windows(m, b);
  if (b.ok()) detail::check_places(m, b);
  if (b.ok()) detail::check_positions(m, b);
  if (b.ok()) detail::bind_axes(m, mesh, b);
  if (b.ok()) detail::bind_grains(m, b);
  if (b.ok()) detail::bind_blocks(m, b);
  if (b.ok()) detail::bind_halos(m, b);
  if (b.ok()) detail::bind_rows(m, b);
  return b;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
