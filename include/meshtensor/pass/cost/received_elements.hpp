// SPDX-License-Identifier: Apache-2.0
// Counts the elements that a collective brings to the rank that receives most.
#pragma once

#include <cstdint>
#include <optional>

#include "meshtensor/base/parts.hpp"
#include "meshtensor/base/shifted.hpp"
#include "meshtensor/op/detail/all_to_all_rows_rule.hpp"
#include "meshtensor/pass/bind/known_number.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The number of elements that the rank with the most traffic receives: its result without its own part. Parts have one
/// of two lengths, and the longer parts come first. Therefore it is enough to ask three ranks: the first, the last, and
/// the last rank with a longer part to take.
constexpr std::int64_t most_received(module const& m, binding const& numbers, node const& n, std::int64_t p) {
  collective_attributes const how = collective_attributes::of(n);
  value const &x = m.operand_value(n, 0), &y = m.result_value(n);
  int const join = x.dims.find(how.join), split = n.kind == primitive::all_to_all ? x.dims.find(how.split) : -1;
  std::int64_t const joined = numbers.local(y, join), grain = numbers.grain[how.join];
  std::int64_t const taken = split < 0 ? 1 : numbers.local(x, split);
  std::int64_t const split_grain = split < 0 ? 1 : numbers.grain[how.split];
  std::int64_t const rest = numbers.local_size(x) / (taken * numbers.local(x, join));
  std::int64_t most = 0;
  for (std::int64_t rank : {std::int64_t{0}, taken / split_grain % p - 1, p - 1}) {
    if (rank < 0) continue;
    std::int64_t const mine = split < 0 ? 1 : part_of(taken, p, rank, split_grain).count;
    std::int64_t const received = mine * (joined - part_of(joined, p, rank, grain).count) * rest;
    most = received > most ? received : most;
  }
  return most;
}
/// The coordinate of a group's member along a mesh axis. It is 0 along axes that the group does not span.
constexpr std::int64_t place_of_member(binding const& numbers, unsigned axes, std::int64_t member, int axis) {
  if ((axes >> axis & 1u) == 0) return 0;
  for (int b = max_axes; --b > axis;)
    if ((axes >> b & 1u) != 0) member /= numbers.axis[b];
  return member % numbers.axis[axis];
}
/// The same for a move: the elements of the result that come from other ranks. If the numbers by which it shifts are
/// not known yet, all elements count.
constexpr std::int64_t most_moved(module const& m, binding const& numbers, node const& n, std::int64_t p) {
  move_attributes const a = move_attributes::of(n);
  value const &x = m.operand_value(n, 0), &y = m.result_value(n);
  int const along = a.first == no_id ? -1 : x.dims.find(a.from);
  std::optional<positions> const at =
      a.first == no_id ? std::optional<positions>(positions{}) : known_positions(m, numbers, a.first, a.step);
  std::int64_t most = 0;
  for (std::int64_t member = 0; member < p; ++member) {
    auto const place = [&](int axis) { return place_of_member(numbers, a.axes, member, axis); };
    std::int64_t own = at ? 1 : 0, all = 1;
    for (int d = 0; d < x.dims.count; ++d) {
      interval const s = numbers.part(x, d, place), t = numbers.part(y, d, place);
      if (d != along || !at) {
        std::int64_t const begin = s.begin > t.begin ? s.begin : t.begin;
        std::int64_t const end = s.begin + s.count < t.begin + t.count ? s.begin + s.count : t.begin + t.count;
        own *= end > begin ? end - begin : 0, all *= t.count;
        continue;
      }
      std::int64_t const extent = numbers.extent[a.from];
      own *= count_shifted(a.how, *at, extent, s, t), all *= count_shifted(a.how, *at, extent, {0, extent}, t);
    }
    most = all - own > most ? all - own : most;
  }
  return most;
}
/// The same for rows that move by sources, if every row of a rank comes from another one.
constexpr std::int64_t most_permuted(module const& m, binding const& numbers, node const& n) {
  return numbers.local_size(m.result_value(n));
}
/// The same for rows that go to the holders of their groups or back, if no row stays where it is. On the way there, a
/// rank receives the rows of all other ranks, as many as it has room for. On the way back, it receives all of its own
/// rows.
constexpr std::int64_t most_rows(module const& m, binding const& numbers, node const& n) {
  move_rows_attributes const a = move_rows_attributes::of(n);
  if (a.how == row_move::by_sources) return most_permuted(m, numbers, n);
  value const& x = m.operand_value(n, 0);
  std::int64_t const of_row = numbers.local_size(x) / numbers.local(x, x.dims.find(a.from));
  std::int64_t most = numbers.extent[a.to];
  for (int i = 0; i < m.node_count && a.how != row_move::back; ++i) {
    node const& counts = m.nodes[i];
    if (counts.kind != primitive::all_to_all_rows || all_to_all_rows_rule::step_of(counts) != row_step::count) continue;
    if (all_to_all_rows_attributes::of(counts).rows != a.to) continue;
    value const& index = m.operand_value(counts, 0);
    std::int64_t all = 0, least = 0;
    for (std::int64_t member = 0; member < numbers.members(a.axes); ++member) {
      std::int64_t own = 1;
      for (int d = 0; d < index.dims.count; ++d)
        own *= numbers.part(index, d, [&](int axis) { return place_of_member(numbers, a.axes, member, axis); }).count;
      all += own, least = member == 0 || own < least ? own : least;
    }
    most = all - least < most ? all - least : most;
  }
  return most * of_row;
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
