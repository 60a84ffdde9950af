// SPDX-License-Identifier: Apache-2.0
// Writes packed rows to the result of a grouped einsum, and sums the rows of each index that the result lacks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "meshtensor/base/sum.hpp"
#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum/row_starts.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum/sorted_rows.hpp"
#include "meshtensor/device/cpu/threads.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

class result_rows {
 public:
  result_rows() = default;
  /// `row` has the dims of y that are neither in the index nor the dim of the groups.
  result_rows(view const& index, view const& y, view const& row) : result_row_(row) {
    for (int i = 0; i < index.count; ++i) {
      if (y.find(index.dim[i]) >= 0) kept_.add(index, i, y), kept_rows_.add(index, i, numbered(index));
      else summed_rows_.add(index, i, numbered(index));
    }
  }

  /// Writes the results to the positions of their rows. Dims of the index that the result lacks are summed.
  void unpack(view const& y, sorted_rows const& rows, std::byte const* made, std::int64_t width,
              thread_team& team) const {
    std::int64_t const terms = summed_rows_.number();
    with_element(y.type, [&]<class E>() {
      using S = sum_t<E>;
      auto const* const sums = reinterpret_cast<S const*>(made);
      bool const is_dense = result_row_.count == 0 || is_contiguous(result_row_);
      team.parallel_for(kept_rows_.number(),
                        std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(1, width * terms)),
                        [&](std::int64_t begin, std::int64_t end) {
                          for (std::int64_t r = begin; r < end; ++r) {
                            E* const to = y.as<E>() + kept_(r);
                            std::int64_t const row = kept_rows_(r);
                            auto const sum_at = [&](std::int64_t j) {
                              wide_sum<S> sum;
                              for (std::int64_t t = 0; t < terms; ++t)
                                if (std::int64_t const at = rows.place(row + summed_rows_(t)); at >= 0)
                                  sum.add(sums[at * width + j]);
                              return detail::element_of<E>(sum.value());
                            };
                            std::int64_t const only = terms == 1 ? rows.place(row) : -1;
                            if (is_dense && only >= 0) {
                              for (std::int64_t j = 0; j < width; ++j)
                                to[j] = detail::element_of<E>(sums[only * width + j]);
                            } else {
                              walk<1> w;
                              for (int i = 0; i < result_row_.count; ++i)
                                w.stride[0][i] = result_row_.stride[i], w.extent[w.count++] = result_row_.extent[i];
                              std::int64_t j = 0;
                              do to[w.offset[0]] = sum_at(j++);
                              while (w.next());
                            }
                          }
                        });
    });
  }

 private:
  static view numbered(view index) {
    index.densify();
    return index;
  }
  static bool is_contiguous(view const& v) {
    std::int64_t n = 1;
    for (int i = v.count; i-- > 0; n *= v.extent[i])
      if (v.extent[i] != 1 && v.stride[i] != n) return false;
    return true;
  }

  row_starts kept_, kept_rows_, summed_rows_;
  view result_row_{};
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
