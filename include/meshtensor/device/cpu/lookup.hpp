// SPDX-License-Identifier: Apache-2.0
// Finds rows of a table by integer indices for gather, scatter_add and put, a whole row at a time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The loops of a gather, scatter_add or put, over the dims of `rows`, which is the block that is gathered, added or
/// put. Innermost dims form one row if they are contiguous in both `rows` and the table, and if the index lacks them.
/// Rows form one run if they are adjacent in both, because their indices are consecutive numbers.
class row_lookup {
 public:
  row_lookup() = default;
  row_lookup(view const& table, view const& index, view const& rows, int dim) {
    int const along = table.find(dim);
    along_stride_ = table.stride[along], origin_ = table.origin[along], extent_ = table.extent[along];
    total_ = table.total[along];
    int outer = rows.count;
    while (outer > 0) {
      int const d = rows.dim[outer - 1], t = table.find(d);
      if (t < 0 || index.find(d) >= 0 || table.stride[t] != width_ || rows.stride[outer - 1] != width_) break;
      width_ *= rows.extent[--outer];
    }
    for (int i = 0; i < outer; ++i) {
      int const t = table.find(rows.dim[i]), x = index.find(rows.dim[i]);
      extents_[count_] = rows.extent[i], rows_[count_] = rows.stride[i];
      table_[count_] = t < 0 ? 0 : table.stride[t];
      index_[count_++] = x < 0 ? 0 : index.stride[x];
      number_ *= rows.extent[i];
    }
    int const last = count_ - 1;
    has_runs_ =
        count_ > 0 && table_[last] == 0 && index_[last] != 0 && along_stride_ == width_ && rows_[last] == width_;
  }

  std::int64_t number() const { return number_; }
  std::int64_t width() const { return width_; }
  /// Whether several rows may have one position in the table.
  bool may_meet() const {
    bool meet = false;
    for (int d = 0; d < count_; ++d) meet = meet || (table_[d] == 0 && extents_[d] > 1);
    return meet;
  }

  /// Calls f(whether the indices are in this shard of the table, offset in the table, offset in the rows, count) for
  /// rows [first, last). `count` is 1 or the length of a run.
  void each(view const& index, std::int64_t first, std::int64_t last,
            function_ref<void(bool, std::int64_t, std::int64_t, std::int64_t)> f) const {
    if (first >= last) return;
    with_element(index.type, [&]<class I>() {
      auto const number = [&](std::int64_t at) {
        return static_cast<std::int64_t>(static_cast<arithmetic_t<I>>(index.as<I>()[at]));
      };
      std::int64_t at[max_dims_of_one], rest = first, in_table = 0, in_rows = 0, in_index = 0;
      for (int d = count_; d-- > 0; rest /= extents_[d]) {
        at[d] = rest % extents_[d];
        in_table += at[d] * table_[d], in_rows += at[d] * rows_[d], in_index += at[d] * index_[d];
      }
      std::int64_t const end = std::min(extent_, total_ - origin_);
      std::int64_t counted = -1, run = 1;  // the offset in the index of the last run, and its length
      for (std::int64_t i = first; i < last;) {
        std::int64_t const global = number(in_index), local = global < 0 ? -1 : global - origin_;
        std::int64_t count = 1;
        if (has_runs_) {
          int const d = count_ - 1;
          if (counted != in_index) {
            std::int64_t const most = extents_[d] - at[d];
            counted = in_index, run = 1;
            while (run < most && global < total_ && number(in_index + run * index_[d]) == global + run) ++run;
          }
          count = std::min(run, last - i);
          if (local < 0) count = std::min(count, -local);
          else if (local < end) count = std::min(count, end - local);
        }
        f(local >= 0 && local < end, in_table + local * along_stride_, in_rows, count);
        i += count;
        for (std::int64_t step = count, d = count_; d-- > 0; step = 1) {  // to the next row
          in_table += step * table_[d], in_rows += step * rows_[d], in_index += step * index_[d];
          if ((at[d] += step) < extents_[d]) break;
          in_table -= at[d] * table_[d], in_rows -= at[d] * rows_[d], in_index -= at[d] * index_[d], at[d] = 0;
        }
      }
    });
  }

  /// Calls f(offset in the table, offset in the rows, elements) for elements [begin, end) of each of the rows [first,
  /// last) whose index is in this shard.
  template <class F>
  void each_part(view const& index, std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end,
                 F f) const {
    bool const is_whole = begin == 0 && end == width_;
    each(index, first, last, [&](bool here, std::int64_t to, std::int64_t from, std::int64_t count) {
      if (!here) return;
      if (is_whole) return f(to, from, count * width_);
      for (std::int64_t k = 0; k < count; ++k) f(to + k * width_ + begin, from + k * width_ + begin, end - begin);
    });
  }

 private:
  std::int64_t width_ = 1, number_ = 1, along_stride_ = 0, origin_ = 0, extent_ = 0, total_ = 0;
  bool has_runs_ = false;
  int count_ = 0;
  std::int64_t extents_[max_dims_of_one] = {}, rows_[max_dims_of_one] = {}, table_[max_dims_of_one] = {},
               index_[max_dims_of_one] = {};
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
