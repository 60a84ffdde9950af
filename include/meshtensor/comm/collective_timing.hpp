// SPDX-License-Identifier: Apache-2.0
// The times at which a collective may read its operand and write its result.
#pragma once

#include <cstdint>

namespace meshtensor {

/// When a collective reads its operand and writes its result, between its start and its wait. Each transport chooses
/// one timing. Therefore a program that touches the operand or the result in between is wrong under another timing.
enum class collective_timing : std::uint8_t {
  at_once,        // reads and writes at the start
  results_late,   // reads at the start and writes at the wait, so results hold garbage until then
  operands_late,  // reads and writes at the wait, so results hold garbage until then
};
inline constexpr collective_timing collective_timings[] = {collective_timing::at_once, collective_timing::results_late,
                                                           collective_timing::operands_late};

constexpr char const* text_of(collective_timing t) {
  constexpr char const* names[] = {"at once", "with late results", "with late reads"};
  return names[static_cast<int>(t)];
}

}  // namespace meshtensor
