// SPDX-License-Identifier: Apache-2.0
// Copies the blocks of a store's value, one for each rank that this process holds, to whole values and from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

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

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
