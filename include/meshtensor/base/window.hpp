// SPDX-License-Identifier: Apache-2.0
// A window that moves along a dim, as numbers: the inputs that it reaches from a range of outputs, and the other way
// round.
#pragma once

#include <cstdint>

#include "meshtensor/base/parts.hpp"

namespace meshtensor {

/// Input i, output o and element w of the kernel meet where i = stride · o + dilation · w - low.
struct window_numbers {
  std::int64_t stride, dilation, low;
  std::int64_t size;  // of the kernel

  constexpr bool operator==(window_numbers const&) const = default;
  constexpr std::int64_t input(std::int64_t output, std::int64_t element) const {
    return stride * output + dilation * element - low;
  }
  /// The number of places of the window along a dim.
  constexpr std::int64_t outputs(std::int64_t extent, std::int64_t high) const {
    std::int64_t const free = extent + low + high - dilation * (size - 1) - 1;
    return free < 0 ? 0 : free / stride + 1;
  }

  /// The inputs that the window reaches from some outputs: from the first to the last one, of `extent` in all.
  constexpr interval inputs_reached(interval outputs, std::int64_t extent) const {
    if (outputs.count == 0) return {0, 0};
    return within(input(outputs.begin, 0), input(outputs.begin + outputs.count - 1, size - 1), extent);
  }
  /// The outputs from which the window reaches some inputs: from the first to the last one, of `extent` in all.
  constexpr interval outputs_reaching(interval inputs, std::int64_t extent) const {
    if (inputs.count == 0) return {0, 0};
    std::int64_t const first = inputs.begin + low - dilation * (size - 1);
    return within(rounded_down(first + stride - 1), rounded_down(inputs.begin + inputs.count - 1 + low), extent);
  }

 private:
  constexpr std::int64_t rounded_down(std::int64_t n) const { return n / stride - (n % stride < 0 ? 1 : 0); }
  static constexpr interval within(std::int64_t first, std::int64_t last, std::int64_t extent) {
    if (first < 0) first = 0;
    if (last >= extent) last = extent - 1;
    return first > last ? interval{0, 0} : interval{first, last - first + 1};
  }
};

}  // namespace meshtensor
