// SPDX-License-Identifier: Apache-2.0
// Holds a fused kernel as a program for the interpreter, with instructions over blocks of elements in scratch memory. A
// vector value has a block of elements, and a row value has one element for each row of a tile. A uniform value is
// repeated throughout a block.
#pragma once

#include <vector>

#include "meshtensor/device/cpu/fused/block_function.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

struct block_program {
  static constexpr std::int64_t buffer_bytes = 32 * 1024;  // all blocks of one thread
  static constexpr std::int64_t most_elements = 512;       // of one block

  enum class kind : std::uint8_t {
    compute,
    load,
    load_rows,
    repeat_row,  // once: loads a row that all rows share, and repeats it until the block is full
    expand,
    position,
    position_rows,
    random,
    random_rows,
    add_row,
    add_over,
    end_along,
    end_total,
    store,
    store_rows,
    store_once
  };
  struct place {
    enum where_t : std::uint8_t { nowhere, buffer, scratch, levels, operand, result } where;
    std::uint8_t index;  // a stream, a scratch row or upper levels of a sum, but in the buffer 1 for lanes
    std::uint8_t bytes;  // of an element
    bool moves;          // advances with the block along the row
    std::int32_t at;     // in the buffer, in blocks of 4-byte elements, or for lanes in bytes
  };
  struct instruction {
    kind does;
    dtype type;
    std::uint8_t out, a, b, c;  // places
    std::uint8_t stream, step;
    block_function f;
  };
  using instructions = std::vector<instruction>;
  struct phase {
    instructions rows, blocks, ends;
  };
  struct along_row {
    std::uint8_t phase, lanes, step;
  };

  std::vector<place> places;
  instructions once;
  std::vector<phase> phases;
  std::vector<along_row> along;  // reductions along the vector, whose lanes outlast a block
  std::int32_t used = 0;         // of the buffer, in blocks of 4-byte elements
  std::int32_t lanes = 0;        // bytes for lanes, after the blocks
  std::int64_t scratch_rows = 0;
  std::int64_t block = 0;  // elements
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
