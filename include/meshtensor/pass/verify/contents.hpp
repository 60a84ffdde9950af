// SPDX-License-Identifier: Apache-2.0
// Tracks memory by address: the contents of each range, and the ranges of collectives in flight.
#pragma once

#include <cstdint>

#include "meshtensor/graph/module.hpp"

namespace meshtensor::detail {

struct planned_contents {
  struct range {
    std::int64_t from, to;
    constexpr bool meets(range const& r) const { return from < r.to && r.from < to; }
  };
  /// A value that was written to a range at one time. Number 0 stands for no content.
  struct content {
    id place;
    std::uint32_t number;
  };
  /// A collective between its start and its wait. In this time, its operand may be read and its result may be written.
  struct started {
    node_id node;
    bool is_sent;
    range in, out;
  };

  std::int64_t arena_bytes;
  int in_flight_count = 0;
  started in_flight[max_nodes / 4];

  constexpr explicit planned_contents(std::int64_t bytes_of_arena)
      : arena_bytes(bytes_of_arena), in_flight{}, arena{}, outside{} {}

  constexpr content add(range const& r) {
    pool& in = pool_of(r);
    int i = 0;
    while (i < in.end && in.number[i] != 0) ++i;
    require(i < max_values, "G41: the plan has too many contents for this check");
    if (i == in.end) ++in.end;
    in.at[i] = r, in.number[i] = ++counter;
    return {static_cast<id>(i | (is_inside(r) ? 0 : outside_bit)), counter};
  }
  constexpr bool holds(content const& c) const {
    return c.number != 0 && pool_of(c).number[c.place & ~outside_bit] == c.number;
  }
  /// Forgets a content that no node will read again.
  constexpr void drop(content const& c) {
    if (holds(c)) pool_of(c).number[c.place & ~outside_bit] = 0;
  }
  /// Invalidates all contents that overlap the range.
  constexpr void overwrite(range const& r) {
    pool& in = pool_of(r);
    for (int i = 0; i < in.end; ++i)
      if (in.at[i].meets(r)) in.number[i] = 0;
    while (in.end > 0 && in.number[in.end - 1] == 0) --in.end;
  }

  constexpr bool begin(started const& s) {
    if (in_flight_count == static_cast<int>(sizeof(in_flight) / sizeof(in_flight[0]))) return false;
    in_flight[in_flight_count++] = s;
    return true;
  }
  constexpr void end_at(int i) { in_flight[i] = in_flight[--in_flight_count]; }
  constexpr bool is_arriving(range const& r) const {
    for (int i = 0; i < in_flight_count; ++i)
      if (in_flight[i].out.meets(r)) return true;
    return false;
  }
  constexpr bool is_in_flight(range const& r) const {
    for (int i = 0; i < in_flight_count; ++i)
      if (in_flight[i].out.meets(r) || in_flight[i].in.meets(r)) return true;
    return false;
  }

 private:
  /// Contents by slot. The number is 0 if a slot is free or its content was overwritten.
  struct pool {
    range at[max_values];
    std::uint32_t number[max_values];
    int end;
  };
  static constexpr id outside_bit = 0x8000;

  constexpr bool is_inside(range const& r) const { return r.from < arena_bytes; }
  constexpr pool& pool_of(range const& r) { return is_inside(r) ? arena : outside; }
  constexpr pool& pool_of(content const& c) { return (c.place & outside_bit) == 0 ? arena : outside; }
  constexpr pool const& pool_of(content const& c) const { return (c.place & outside_bit) == 0 ? arena : outside; }

  pool arena, outside;
  std::uint32_t counter = 0;
};

}  // namespace meshtensor::detail
