// SPDX-License-Identifier: Apache-2.0
// Sorts the rows of a grouped einsum by their groups, and cuts each group into blocks of a few sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum/row_starts.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// The position of each row among the packed ones, where rows of one group are next to each other.
class sorted_rows {
 public:
  // Groups begin at multiples of the smallest size.
  static constexpr int sizes = 5;
  static constexpr std::int64_t size_of[sizes] = {1024, 256, 64, 16, 4}, least = size_of[sizes - 1];

  sorted_rows() = default;
  /// `groups` is the number of groups of this rank, of `total` ones, and `origin` is the first of them.
  sorted_rows(view const& index, std::int64_t groups, std::int64_t origin, std::int64_t total)
      : groups_(groups), origin_(origin), total_(total) {
    index_ = row_starts(index, index);
    rows_ = index_.number();
    room_ = rows_ + (least - 1) * std::min(groups_, rows_);
    room_ = (room_ + least - 1) / least * least;
    place_.resize(static_cast<std::size_t>(rows_));
    first_.resize(static_cast<std::size_t>(groups_ + 1));
    size_.resize(static_cast<std::size_t>(groups_));
  }

  std::int64_t count() const { return rows_; }
  /// The number of packed rows for which there must be room.
  std::int64_t room() const { return room_; }
  /// The position of a row, or -1 if it has no group here.
  std::int64_t place(std::int64_t row) const { return place_[static_cast<std::size_t>(row)]; }
  bool is_empty(std::int64_t group) const { return size_[static_cast<std::size_t>(group)] == 0; }

  /// Finds the position of each row among the packed rows. Rows of one group keep their order.
  void sort(view const& index) {
    std::fill(size_.begin(), size_.end(), 0);
    with_element(index.type, [&]<class I>() {
      for (std::int64_t r = 0; r < rows_; ++r) {
        auto const global = static_cast<std::int64_t>(static_cast<arithmetic_t<I>>(index.as<I>()[index_(r)]));
        std::int64_t const local = global < 0 ? -1 : global - origin_;
        bool const here = local >= 0 && local < groups_ && global < total_;
        place_[static_cast<std::size_t>(r)] = here ? local : -1;
        if (here) ++size_[static_cast<std::size_t>(local)];
      }
    });
    first_[0] = 0;
    for (std::size_t g = 0; g < size_.size(); ++g) {
      first_[g + 1] = first_[g] + (size_[g] + least - 1) / least * least;
      size_[g] = 0;
    }
    for (std::int64_t& p : place_)
      if (p >= 0) {
        auto const g = static_cast<std::size_t>(p);
        p = first_[g] + size_[g]++;
      }
  }
  /// Calls f(number of a size, first row) for blocks that together form the rows of a group.
  void each_block(std::int64_t group, auto const& f) const {
    auto const g = static_cast<std::size_t>(group);
    std::int64_t row = first_[g];
    for (int k = 0; k < sizes; ++k)
      for (; row + size_of[k] <= first_[g + 1]; row += size_of[k]) f(k, row);
  }
  /// Calls f(first, last) for the packed rows of each group that hold no row.
  void each_gap(auto const& f) const {
    for (std::size_t g = 0; g < size_.size(); ++g) f(first_[g] + size_[g], first_[g + 1]);
  }

 private:
  std::int64_t groups_ = 0, origin_ = 0, total_ = 0, rows_ = 0, room_ = 0;
  std::vector<std::int64_t> place_;         // position of each row among the packed ones, or -1 if it has no group
  std::vector<std::int64_t> first_, size_;  // of each group: its first packed row, and its number of rows
  row_starts index_;
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
