// SPDX-License-Identifier: Apache-2.0
// Adds a loop that may end early, and the dim of its iterations.
#pragma once

#include "meshtensor/graph/scope.hpp"

namespace meshtensor::detail {

/// A dim of the library's own for the iterations of a loop that may end early: `while_loop/3`.
constexpr dim_id dim_of_iterations(builder& b, char const* what, number_id most) {
  diagnostic label{};
  label << what << "/" << b.m.dim_count;
  number_row const& n = b.m.numbers[most];
  dim_row row{dim_row::counted, b.intern(name::of(label.view())), no_id, no_id, static_cast<std::int64_t>(most)};
  if (n.kind == number_row::literal && n.value.real >= 1 && n.value.real <= 0x1p53)
    row.kind = dim_row::fixed, row.value = static_cast<std::int64_t>(n.value.real);
  return b.add_dim(row);
}

/// Adds a loop that may end early around the region of `f`. The first of its carries is the number of iterations that
/// are known to run.
constexpr node_id add_counted_loop(builder& b, dim_id dim, id_list<> carries, frame const& f) {
  int const count = carries.count;
  carries.add_all(f.stacked), carries.add_all(f.invariants);
  node_id const n = b.add_node(primitive::repeat, 0, carries);
  loop{dim, count, f.stacked.count, 0, false, true}.store(b.m.nodes[n]);
  region_id const owned[] = {f.region};
  b.m.nodes[n].regions = b.add_links(owned);
  b.add_result(n, dtype::i64, shape{});
  return n;
}

}  // namespace meshtensor::detail
