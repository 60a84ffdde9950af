// SPDX-License-Identifier: Apache-2.0
// Writes the CUDA text that finds the rows of a lookup: positions in its table, and the entries and elements of the
// rows.
#pragma once

#include <cstdint>
#include <string>

#include "meshtensor/device/cuda/text/index.hpp"

namespace meshtensor::cuda::detail {

/// Writes the element at an index as a position along the dim of a table. It is -1 outside of the table's part on this
/// rank.
inline std::string position_text(view const& table, int along, view const& index, char const* offset) {
  return joined({"i64 at = to<i64>(get(((const ", type_text(index.type), "*)a.p[1])[", offset,
                 "]));\nif (at < 0 || at >= ", table.total[along], "ll) at = -1; else { at -= ", table.origin[along],
                 "ll; if (at < 0 || at >= ", table.extent[along], "ll) at = -1; }\n"});
}

/// The rows of a lookup: its entries, which are numbered in the order of plain loops, and the elements of a row.
struct row_walk {
  // `entries` gives offsets in the index and in `rows`, and a key. `elements` gives offsets in the table and in `rows`.
  index_text entries, elements;
  std::int64_t keys = 1, shared = 1;

  row_walk(view const& table, view const& index, view const& rows, int dim) {
    int const along = table.find(dim);
    std::int64_t const length = table.extent[along];
    auto const is_key = [&](int i) { return index.find(rows.dim[i]) >= 0 && table.find(rows.dim[i]) >= 0; };
    auto const is_element = [&](int i) { return index.find(rows.dim[i]) < 0 && table.find(rows.dim[i]) >= 0; };
    std::int64_t key_stride[max_dims_of_one] = {};
    for (int i = rows.count; i-- > 0;)
      if (is_key(i)) key_stride[i] = shared * length, shared *= rows.extent[i];
    keys = shared * length;
    auto const stride = [](view const& v, int d) {
      int const q = v.find(d);
      return q < 0 ? std::int64_t{0} : v.stride[q];
    };
    for (bool const outer : {true, false})
      for (int i = 0; i < rows.count; ++i)
        if (!is_element(i) && is_key(i) == outer)
          entries.add(rows.extent[i], {stride(index, rows.dim[i]), rows.stride[i], key_stride[i]});
    for (int i = 0; i < rows.count; ++i)
      if (is_element(i)) elements.add(rows.extent[i], {stride(table, rows.dim[i]), rows.stride[i]});
  }
  /// Writes the offset in the table of the first element of a key's row.
  std::string table_offset(view const& table, view const& index, view const& rows, int dim, char const* key) const {
    int const along = table.find(dim);
    index_text at;
    for (int i = 0; i < rows.count; ++i)
      if (index.find(rows.dim[i]) >= 0 && table.find(rows.dim[i]) >= 0)
        at.add(rows.extent[i], {table.stride[table.find(rows.dim[i])]});
    at.add(table.extent[along], {table.stride[along]});
    return at.text(key, "t", 1);
  }
};

}  // namespace meshtensor::cuda::detail
