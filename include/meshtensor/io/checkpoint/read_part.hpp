// SPDX-License-Identifier: Apache-2.0
// Reads the part of a saved value that a window in memory shows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "meshtensor/io/checkpoint/read_box.hpp"
#include "meshtensor/io/saved_files.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::io {

/// Reads the intersection of a block and a window. Dim i of the saved value is dim `places[i]` of the window, and the
/// window's other dims get their first index alone.
inline void read_part(saved_files& files, named_value const& v, std::size_t block, saved_block const& b,
                      std::vector<int> const& places, view const& window) {
  file_box box;
  std::int64_t to = 0;
  for (; box.count < static_cast<int>(places.size()); ++box.count) {
    int const i = box.count, at = places[static_cast<std::size_t>(i)];
    std::int64_t const first = std::max(b.origin[i], window.origin[at]);
    std::int64_t const last = std::min(b.origin[i] + b.extent[i], window.origin[at] + window.extent[at]);
    if (first >= last) return;
    box.whole[i] = b.extent[i], box.first[i] = first - b.origin[i], box.extent[i] = last - first;
    box.stride[i] = window.stride[at];
    to += (first - window.origin[at]) * window.stride[at];
  }
  block_in_file const from = files.find(v, block);
  std::int64_t const element = v.value.stored->bytes;
  read_box(from.from, from.offset, element, box, window.as<std::byte>() + to * element);
}

}  // namespace meshtensor::io
