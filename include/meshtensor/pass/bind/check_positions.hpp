// SPDX-License-Identifier: Apache-2.0
// Checks that the dtypes in which operations return positions and counts can hold the largest of them.
#pragma once

#include "meshtensor/graph/element_number.hpp"
#include "meshtensor/op/detail/all_to_all_rows_rule.hpp"
#include "meshtensor/op/pool.hpp"
#include "meshtensor/pass/bind/extents.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The dims whose elements a node counts, in integers of its result's dtype. A node that returns no positions has none.
constexpr shape counted_dims(module const& m, node const& n) {
  switch (n.kind) {
    case primitive::iota: return m.result_value(n).dims;
    case primitive::call: {
      call_row const& c = m.calls[call_of(n)];
      return c.library == library_call::top_positions ? c.whole : shape{};
    }
    case primitive::all_to_all_rows: {
      bool const counts = all_to_all_rows_rule::step_of(n) == row_step::count;
      return counts ? m.operand_value(n, 0).dims : shape{};
    }
    case primitive::pool: {
      shape kernels{};
      pool_attributes const a = pool_attributes::of(n);
      if (static_cast<pool_step>(n.function) != pool_step::position) return kernels;
      for (int k = a.first; k < a.first + a.count; ++k) kernels.add(m.windows[k].kernel);
      return kernels;
    }
    default: return {};
  }
}

constexpr void check_positions(module const& m, binding& b) {
  for (int i = 0; i < m.node_count; ++i) {
    node const& n = m.nodes[i];
    if (n.kind == primitive::constant) {
      dtype const type = m.result_value(n).type;
      if (is_float(type) || type == dtype::boolean) continue;
      number_id const row = constant_attributes::of(n).number;
      auto const known = known_number(m, b, row);
      if (!known || fits(*known, type)) continue;
      add_exact(b.report << "T02 ", *known);
      locate(add_range(b.report, *known, "stands beside", type), m, n);
      return;
    }
    shape const dims = counted_dims(m, n);
    if (dims.count == 0) continue;
    std::int64_t count = 1;
    for (int k = 0; k < dims.count; ++k)
      count = product_up_to_longest(count, std::max<std::int64_t>(1, b.extent[dims.at[k]]));
    dtype const type = m.result_value(n).type;
    if (fits(n.kind == primitive::all_to_all_rows ? count : count - 1, type)) continue;
    b.report << "S19 positions along ";
    for (int k = 0; k < dims.count; ++k)
      b.report << (k == 0 ? "'" : " and '") << m.dim_name(dims.at[k]) << "' (" << b.extent[dims.at[k]] << ")";
    b.report << " do not fit " << text_of(type) << ", in which this operation gives them: "
             << (n.kind == primitive::iota ? "write mt::i64, or give smaller extents" : "give smaller extents");
    locate(b.report, m, n);
    return;
  }
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
