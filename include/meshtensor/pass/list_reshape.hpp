// SPDX-License-Identifier: Apache-2.0
// Lists dims that hold the same elements in a table of the module, because facts about them outlive their nodes.
#pragma once

#include "meshtensor/op/rules.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// Lists the dims that hold the same elements by a node of `from`, if there are any. The row of a `replaced` node has
/// its line.
constexpr void list_reshape(module& to, module const& from, node const& n, bool replaced = false) {
  same_elements const same = elements_of(from, n);
  if (same.before.count == 0) return;
  int k = 0;
  auto const is_listed = [&](reshape_row const& row) {
    return row.kind == n.kind && row.same.before == same.before && row.same.after == same.after;
  };
  while (k < to.reshape_count && !is_listed(to.reshapes[k])) ++k;
  if (k == max_reshapes) {
    to.report << "G20 the programs rename, merge, split, permute and concat dims in more than " << max_reshapes
              << " ways: declare fewer of them together";
    return;
  }
  if (k == to.reshape_count) to.reshapes[to.reshape_count++] = {same, n.kind, n.site, false};
  reshape_row& row = to.reshapes[k];
  if (replaced && !row.replaced) row.site = n.site, row.replaced = true;
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
