// SPDX-License-Identifier: Apache-2.0
// Copies the blocks of a store's value, one for each rank that this process holds, to whole values and from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/array/array_view.hpp"
#include "meshtensor/run/stored.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// Adds a block of zeros for a window of a value.
inline void add_block(stored& s, view window) {
  s.blocks.emplace_back(static_cast<std::size_t>(window.bytes()));
  s.copies.emplace_back();
  window.data = s.blocks.back().data();
  s.windows.push_back(window);
}
/// A view of the caller's memory, with its dims in the value's order.
template <class T>
view fitted(std::string const& label, stored const& s, array_view<T> const& there) {
  view const v =
      there.as(dense_view(nullptr, s.type, s.dims), [&](int i) { return s.dims[static_cast<std::size_t>(i)].label; });
  if (v.count < 0)
    throw error("R11",
                {"the store holds '", label, "' as ", s.text(), ", but it was given a view ", text_of(there.dims())});
  return v;
}
/// Copies one rank's block to its position in the whole value, or from there.
inline void copy_block(view part, std::byte* block, view whole, bool into_whole) {
  part.data = block;
  std::int64_t first = 0;
  for (int i = 0; i < whole.count; ++i) {
    whole.dim[i] = part.dim[i];
    first += whole.stride[i] * part.origin[i];
  }
  if (into_whole) copy_by_name(part, 0, whole, first, no_id, no_id, part.extent);
  else copy_by_name(whole, first, part, 0, no_id, no_id, part.extent);
}

/// Copies a value to memory for the whole of it. Returns false if this process does not hold all parts.
inline bool copy_if_held(stored& s, view const& whole) {
  if (static_cast<std::int64_t>(s.blocks.size()) != s.mesh.size()) return false;
  for (std::size_t k = 0; k < s.blocks.size(); ++k) copy_block(s.windows[k], s.read_block(k), whole, true);
  return true;
}
/// Whether all indices along a dim have the same bytes.
inline bool is_equal_along(view const& x, int along) {
  auto const bytes = static_cast<std::int64_t>(bytes_of(x.type));
  view first = x;
  first.extent[along] = 1;
  std::vector<std::byte> one(static_cast<std::size_t>(first.bytes())), other(one.size());
  auto const copy = [&](std::int64_t k, std::vector<std::byte>& to) {
    view from = first, dense = first;
    from.data = x.as<std::byte>() + k * x.stride[along] * bytes;
    dense.densify();
    dense.data = to.data();
    copy_by_name(from, 0, dense, 0, no_id, no_id, first.extent);
  };
  if (one.empty()) return true;
  copy(0, one);
  for (std::int64_t k = 1; k < x.extent[along]; ++k)
    if (copy(k, other), one != other) return false;
  return true;
}
/// Replaces a value by a whole one. Replicas that get equal values share them.
inline void replace_by(stored& s, view const& whole) {
  s.replace([&](std::size_t k, std::byte* block) { copy_block(s.windows[k], block, whole, false); });
  if (s.replica_dim >= 0 && is_equal_along(whole, s.replica_dim)) s.shared = shared_by_replicas::parameters;
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
