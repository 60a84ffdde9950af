// SPDX-License-Identifier: Apache-2.0
// Computes the ranks and bytes of one collective: of one message, and of all its runs in a step.
#pragma once

#include "meshtensor/base/all_reduce.hpp"
#include "meshtensor/base/saturating.hpp"
#include "meshtensor/pass/cost/received_elements.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// One collective as planned, if it is sent on its own: its number of ranks, and the most bytes that one of them
/// receives. A collective over one rank moves nothing.
struct collective_cost {
  std::int64_t members, bytes;
};

/// The ranks and bytes of one collective. The bytes are those that its messages bring.
///
/// source  comm/mpi_algorithm.hpp: the messages that carry each collective
constexpr collective_cost cost_of_collective(module const& m, binding const& numbers, node const& n) {
  value const& v = m.operand_value(n, 0);
  std::int64_t const p = numbers.members(axes_of_collective(n)), elements = numbers.local_size(v);
  auto const each = static_cast<std::int64_t>(bytes_of(v.type));
  if (p < 2) return {p, 0};
  switch (n.kind) {
    case primitive::all_reduce:
      return {p, all_reduce_bytes(elements, v.type, static_cast<int>(p), 0, goes_in_steps(elements * each))};
    case primitive::reduce_scatter:
      if (collective_attributes::of_slices(m, n) != no_id)
        return {p, reduce_bytes(elements, v.type, static_cast<int>(p), 0, true)};
      return {p, (p - 1) * numbers.local_size(m.result_value(n)) * each};
    case primitive::move: return {p, detail::most_moved(m, numbers, n, p) * each};
    case primitive::move_rows: return {p, detail::most_rows(m, numbers, n) * each};
    case primitive::all_gather:
      if (collective_attributes::of_slices(m, n) != no_id) return {p, elements * each};
      [[fallthrough]];
    default: return {p, detail::most_received(m, numbers, n, p) * each};
  }
}

/// The bytes that one node brings in a step, if it runs `times` times, for the rank that receives most. Of a loop's
/// slices, a gather brings a rank only the slices that it does not hold. A reduction leaves it only the sums of its own
/// slices, and it sends the other sums away.
constexpr std::int64_t bytes_in_step(module const& m, binding const& numbers, node const& n, std::int64_t times) {
  collective_cost const e = cost_of_collective(m, numbers, n);
  dim_id const along = collective_attributes::of_slices(m, n);
  if (along == no_id || e.members < 2) return saturated_product(times, e.bytes);
  bool const gathers = n.kind == primitive::all_gather;
  placement const& layout = gathers ? m.operand_value(n, 0).layout : m.result_value(n).layout;
  std::int64_t const loops = times / numbers.extent[along];
  if (gathers) {
    std::int64_t const least = numbers.slices_held(along, layout, [&](int a) { return numbers.axis[a] - 1; }).count;
    return saturated_product(loops, saturated_product(numbers.extent[along] - least, e.bytes));
  }
  value const& v = m.operand_value(n, 0);
  std::int64_t const most = numbers.slices_held(along, layout, [](int) { return 0; }).count;
  std::int64_t const elsewhere = reduce_bytes(numbers.local_size(v), v.type, static_cast<int>(e.members), 0, false);
  std::int64_t const of_own = saturated_product(most, e.bytes);
  std::int64_t const of_others = saturated_product(numbers.extent[along] - most, elsewhere);
  return saturated_product(loops, saturated_sum(of_own, of_others));
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
