// SPDX-License-Identifier: Apache-2.0
// Chooses the tiles of attention's kernels, as large as shared memory allows, and whether matrix units multiply them.
#pragma once

#include <algorithm>
#include <string>

#include "meshtensor/device/cuda/attention/tiles_text.hpp"
#include "meshtensor/device/cuda/text/kernel_texts.hpp"

namespace meshtensor::cuda {

enum class attention_use { forward, to_queries, to_keys };

struct tile_shape {
  int threads = 1, rows = 16, columns = 16;  // rows of the block's own tile, columns of the tiles it visits
  std::int64_t bytes = 0;                    // of shared memory
  bool in_workspace = false;                 // whether tiles are too large for shared memory
  std::string text;                          // the type that multiplies tiles, of attention/tiles_text.hpp

  /// `down` and `across_all` are the numbers of all rows and columns that the tiles cover. If a tile has more than 16
  /// rows or columns, it has less than twice as many as there are.
  static tile_shape of(attention_use use, dtype type, std::int64_t head, std::int64_t value, std::int64_t down,
                       std::int64_t across_all, int threads, gpu const& device) {
    tile_shape s;
    s.threads = std::min(threads, 128);
    std::int64_t const wide = std::max(head, value), room = static_cast<std::int64_t>(device.shared_bytes());
    if (type == dtype::bf16 && s.threads == 128 && device.has_matrix_units() && wide <= 256) {
      s.rows = s.threads / 2;
      std::int64_t const whole = use == attention_use::forward ? 128 : 64;  // the largest width for 64 columns
      s.columns = wide <= whole ? 64 : wide <= 2 * whole ? 32 : 16;
      while (s.columns > 16 && s.columns >= 2 * across_all) s.columns /= 2;
      s.bytes = s.bytes_of(use, 16, 8, 2, 4, head, value, 0);
      if (s.bytes <= room) {
        s.text = joined({"by_units<", s.threads, ", ", s.rows, ", ", s.columns, ">"});
        return s;
      }
    }
    std::int64_t const size = type == dtype::f64 ? 8 : 4, at_once = 16 / size, across = std::min(s.threads, 8);
    constexpr int shapes[][2] = {{64, 64}, {64, 32}, {32, 32}, {32, 16}, {16, 16}};
    for (auto const& [rows, columns] : shapes) {
      if ((rows > 16 && rows >= 2 * down) || (columns > 16 && columns >= 2 * across_all)) continue;
      s.rows = rows, s.columns = columns;
      s.bytes = s.bytes_of(use, across * at_once, at_once, size, size, head, value, columns + at_once);
      if (s.bytes <= std::min(room, most_bytes)) break;
    }
    s.in_workspace = s.bytes > room;
    s.text = joined({"by_fma<", type_text(type), ", ", type == dtype::f64 ? "double" : "float", ", ", s.threads, ", ",
                     s.rows, ", ", s.columns, ">"});
    return s;
  }

 private:
  static constexpr std::int64_t most_bytes = 100 * 1024;  // so that an H100 runs two blocks at once

  /// The shared memory of a block. Rows are padded to multiples of `unit` elements, and are `gap` elements further
  /// apart. The numbers of a thread have `number` bytes each.
  std::int64_t bytes_of(attention_use use, std::int64_t unit, std::int64_t gap, std::int64_t element,
                        std::int64_t number, std::int64_t head, std::int64_t value, std::int64_t buffer_line) const {
    auto const line = [&](std::int64_t n) { return (n + unit - 1) / unit * unit + gap; };
    std::int64_t const staged = use == attention_use::forward ? (rows + columns) * line(head) + columns * line(value)
                                                              : (rows + columns) * (line(head) + line(value));
    return staged * element + (rows * buffer_line + (use == attention_use::to_keys ? 2 * columns : 0)) * number;
  }
};

}  // namespace meshtensor::cuda
