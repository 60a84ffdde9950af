// SPDX-License-Identifier: Apache-2.0
// Shifts along a dim as runs of elements that stay together: cut off at the ends, wrapped around, or reversed.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "meshtensor/base/parts.hpp"

namespace meshtensor {

/// Element o of the result is element o + first of the operand (cut, wrap) or first - o (reverse). Beyond the operand's
/// ends there are none (cut, reverse), or its other end follows (wrap).
enum class shift_kind : std::uint8_t { cut, wrap, reverse };

/// Elements to, to + 1, … of a result that are elements from, from + step, … of an operand, `count` of them.
struct shifted_run {
  std::int64_t to, from, count;
  int step;
};

/// Calls f(shifted_run) for the elements of the result in `target` that come from elements of the operand in `source`;
/// `extent` is that of the operand's dim.
template <class F>
constexpr void each_run(shift_kind kind, std::int64_t first, std::int64_t extent, interval source, interval target,
                        F&& f) {
  std::int64_t const last = target.begin + target.count, end = source.begin + source.count;
  auto const between = [&](std::int64_t begin, std::int64_t until, auto from) {
    if (begin < target.begin) begin = target.begin;
    if (until > last) until = last;
    if (begin < until) f(shifted_run{begin, from(begin), until - begin, kind == shift_kind::reverse ? -1 : 1});
  };
  if (kind == shift_kind::reverse)
    return between(first - end + 1, first - source.begin + 1, [&](std::int64_t o) { return first - o; });
  if (kind == shift_kind::cut)
    return between(source.begin - first, end - first, [&](std::int64_t o) { return o + first; });
  std::int64_t const once = (first % extent + extent) % extent;
  for (std::int64_t by : {once, once - extent})
    between(source.begin - by, end - by, [&](std::int64_t o) { return o + by; });
}

/// How many elements of the result in `target` come from elements of the operand in `source`.
constexpr std::int64_t count_shifted(shift_kind kind, std::int64_t first, std::int64_t extent, interval source,
                                     interval target) {
  std::int64_t count = 0;
  each_run(kind, first, extent, source, target, [&](shifted_run const& r) { count += r.count; });
  return count;
}

}  // namespace meshtensor
