// SPDX-License-Identifier: Apache-2.0
// Copies the rows of a tensor to their positions among the packed rows, and clears the rows between groups.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "meshtensor/base/bytes.hpp"
#include "meshtensor/device/cpu/copy.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum/row_starts.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum/sorted_rows.hpp"
#include "meshtensor/device/cpu/threads.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

struct row_packing {
  view row;
  strided_copy copy;
  row_starts start;
  std::int64_t elements, bytes_of_element;

  void pack(view const& x, sorted_rows const& rows, std::byte* to, thread_team& team) const {
    std::int64_t const row_bytes = elements * bytes_of_element;
    team.parallel_for(rows.count(), std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, elements)),
                      [&](std::int64_t first, std::int64_t last) {
                        for (std::int64_t r = first; r < last; ++r)
                          if (std::int64_t const at = rows.place(r); at >= 0)
                            copy.run(x.as<std::byte>() + start(r) * bytes_of_element, to + at * row_bytes);
                      });
    rows.each_gap(
        [&](std::int64_t end, std::int64_t next) { clear_bytes(to + end * row_bytes, (next - end) * row_bytes); });
  }
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
