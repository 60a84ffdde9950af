// SPDX-License-Identifier: Apache-2.0
// Assigns blocks of a buffer to the values of a program, and frees them for later values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/cpu/fused/block_program.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// A program whose values get their places one by one. A block that is released is used again.
class block_places {
  using place = block_program::place;

 public:
  block_program program;

 protected:
  std::uint8_t add_place(place const& p) {
    program.places.push_back(p);
    require(program.places.size() < 256, "R31: a kernel has too many values for the interpreter");
    return static_cast<std::uint8_t>(program.places.size() - 1);
  }
  std::uint8_t new_block(dtype t) {
    auto const bytes = static_cast<std::uint8_t>(register_bytes(t));
    for (std::size_t i = 0; i < free_.size(); ++i)
      if (free_[i].bytes == bytes) {
        std::int32_t const at = free_[i].at;
        free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
        return add_place({place::buffer, 0, bytes, false, at});
      }
    return fresh_block(t);
  }
  /// A block that was never used before, for a value that is computed ahead of a phase's blocks.
  std::uint8_t fresh_block(dtype t) {
    auto const bytes = static_cast<std::uint8_t>(register_bytes(t));
    std::int32_t const at = program.used;
    program.used += bytes / 4;
    return add_place({place::buffer, 0, bytes, false, at});
  }
  void release(std::uint8_t p) {
    if (program.places[p].where == place::buffer) free_.push_back({program.places[p].at, program.places[p].bytes});
  }

  std::uint8_t new_permanent(std::int64_t bytes) {
    std::int32_t const at = program.lanes;
    program.lanes += static_cast<std::int32_t>(bytes);
    return add_place({place::buffer, 1, 0, false, at});
  }

  void choose_block() {
    program.block = block_program::most_elements;
    while (program.block > 2 * pack_width &&
           program.used * 4 * program.block + program.lanes > block_program::buffer_bytes)
      program.block /= 2;
    require(program.used * 4 * program.block + program.lanes <= block_program::buffer_bytes,
            "R31: a kernel has too many values for the interpreter");
  }

 private:
  struct free_block {
    std::int32_t at;
    std::uint8_t bytes;
  };

  std::vector<free_block> free_;
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
