// SPDX-License-Identifier: Apache-2.0
// Finds the dim of the user's program from which the partition or an operation made another dim. Reports use it.
#pragma once

#include <string>

#include "meshtensor/graph/spell.hpp"

namespace meshtensor::detail {

/// The dim as the program names it.
inline dim_id written_dim(module const& m, int d) {
  dim_row const& row = m.dims[d];
  bool const is_made = row.kind == dim_row::blocks || row.kind == dim_row::in_block || row.kind == dim_row::halo ||
                       row.kind == dim_row::holders || row.kind == dim_row::rows || row.kind == dim_row::sent ||
                       (row.kind == dim_row::same && speller(m).dim(d).find("/again") != std::string::npos);
  return is_made ? written_dim(m, row.first) : static_cast<dim_id>(d);
}

}  // namespace meshtensor::detail
