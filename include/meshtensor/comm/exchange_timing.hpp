// SPDX-License-Identifier: Apache-2.0
// The times at which a collective may read its operand and write its result.
#pragma once

#include <cstdint>

namespace meshtensor {

/// When a collective reads and writes, between its start and its wait. A transport chooses one; a program that touches
/// operand or result in between is wrong under another.
enum class exchange_timing : std::uint8_t {
  at_once,        // at its start
  results_late,   // operands are read at the start; results are written at the wait and hold garbage until then
  operands_late,  // both happen at the wait; results hold garbage until then
};
inline constexpr exchange_timing exchange_timings[] = {exchange_timing::at_once, exchange_timing::results_late,
                                                       exchange_timing::operands_late};

constexpr char const* text_of(exchange_timing t) {
  constexpr char const* names[] = {"at once", "with late results", "with late reads"};
  return names[static_cast<int>(t)];
}

}  // namespace meshtensor
