// SPDX-License-Identifier: Apache-2.0
// Shifts along a dim as runs of elements that stay together: cut off at the ends, wrapped around, reversed, or with a
// step.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "meshtensor/base/parts.hpp"

namespace meshtensor {

/// The elements first, first + step, … of a dim. The step is not 0.
struct positions {
  std::int64_t first = 0, step = 1;

  constexpr bool operator==(positions const&) const = default;
  constexpr std::int64_t operator[](std::int64_t k) const { return first + step * k; }
};

/// `cut`       Element o of the result is element first + step·o of the operand.
/// `wrap`      Element o is element first + o. Beyond one end of the operand, the other end follows.
/// `reverse`   Element o is element first - o.
/// `spread`    Element first + step·i of the result is element i of the operand.
///
/// All other elements of the result come from no element of the operand.
enum class shift_kind : std::uint8_t { cut, wrap, reverse, spread };

/// Elements to, to + to_step, … of a result that are elements from, from + from_step, … of an operand, `count` of them.
struct shifted_run {
  std::int64_t to, from, count, to_step, from_step;
};

/// The numbers k in `among` for which at[k] is in `wanted`.
constexpr interval places_within(positions at, interval among, interval wanted) {
  if (wanted.count == 0) return {among.begin, 0};
  std::int64_t const last = wanted.begin + wanted.count - 1, end = among.begin + among.count;
  std::int64_t const low = at.step > 0 ? wanted.begin - at.first : at.first - last;
  std::int64_t const high = at.step > 0 ? last - at.first : at.first - wanted.begin;
  std::int64_t const by = at.step > 0 ? at.step : -at.step;
  auto const rounded_down = [&](std::int64_t n) { return n / by - (n % by < 0 ? 1 : 0); };
  std::int64_t begin = rounded_down(low + by - 1), until = rounded_down(high) + 1;
  if (begin < among.begin) begin = among.begin;
  if (until > end) until = end;
  return {begin, begin < until ? until - begin : 0};
}

/// Whether the first `count` positions lie among `extent` elements.
constexpr bool are_within(positions at, std::int64_t count, std::int64_t extent) {
  return places_within(at, {0, count}, {0, extent}).count == count;
}

/// Calls f(shifted_run) for the elements of the result in `target` that come from elements of the operand in `source`.
/// `extent` is that of the operand's dim.
template <class F>
constexpr void each_run(shift_kind kind, positions at, std::int64_t extent, interval source, interval target, F&& f) {
  auto const give = [&](positions from) {
    interval const k = places_within(from, target, source);
    if (k.count != 0) f(shifted_run{k.begin, from[k.begin], k.count, 1, from.step});
  };
  if (kind == shift_kind::cut) return give(at);
  if (kind == shift_kind::reverse) return give({at.first, -1});
  if (kind == shift_kind::spread) {
    interval const k = places_within(at, source, target);
    if (k.count != 0) f(shifted_run{at[k.begin], k.begin, k.count, at.step, 1});
    return;
  }
  std::int64_t const once = (at.first % extent + extent) % extent;
  for (std::int64_t by : {once, once - extent}) give({by, 1});
}

/// The number of elements of the result in `target` that come from elements of the operand in `source`.
constexpr std::int64_t count_shifted(shift_kind kind, positions at, std::int64_t extent, interval source,
                                     interval target) {
  std::int64_t count = 0;
  each_run(kind, at, extent, source, target, [&](shifted_run const& r) { count += r.count; });
  return count;
}

}  // namespace meshtensor
