// SPDX-License-Identifier: Apache-2.0
// Copies elements from one strided block to another. It copies contiguous runs if both blocks are contiguous, small
// square tiles if it transposes, and single elements otherwise.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "meshtensor/device/cpu/threads.hpp"
#include "meshtensor/graph/module.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// A copy of a box of elements, whose strides count elements. It is prepared once, so that a run makes no decisions.
class strided_copy {
 public:
  strided_copy() = default;
  /// Dim i of `to` has stride from_stride[i] in the source. A stride of 0 broadcasts.
  strided_copy(view const& to, std::int64_t const* from_stride, std::int64_t const* extents,
               std::int64_t bytes_of_element)
      : bytes_(bytes_of_element) {
    for (int i = 0; i < to.count; ++i)
      if (extents[i] != 1) extent_[count_] = extents[i], from_[count_] = from_stride[i], to_[count_++] = to.stride[i];
    for (int i = 1; i < count_; ++i)  // the target's smallest stride becomes innermost
      for (int k = i; k > 0 && to_[k - 1] < to_[k]; --k) swap_dims(k - 1, k);
    for (int i = count_ - 1; i-- > 0;) {
      if (from_[i] != from_[i + 1] * extent_[i + 1] || to_[i] != to_[i + 1] * extent_[i + 1]) continue;
      extent_[i + 1] *= extent_[i];
      remove(i);
    }
    if (count_ == 0) extent_[0] = from_[0] = to_[0] = 1, count_ = 1;
    int const inner = count_ - 1;
    if (from_[inner] != 1 && to_[inner] == 1)
      for (int i = 0; i < inner; ++i)
        if (from_[i] == 1) {  // the source's innermost dim moves next to the target's
          for (int k = i; k + 1 < inner; ++k) swap_dims(k, k + 1);
          turned_ = true;
          break;
        }
  }

  std::int64_t elements() const {
    std::int64_t n = 1;
    for (int i = 0; i < count_; ++i) n *= extent_[i];
    return n;
  }

  void run(void const* from, void* to, thread_team* team = nullptr) const {
    switch (bytes_) {
      case 1: return run_as<std::uint8_t>(from, to, team);
      case 2: return run_as<std::uint16_t>(from, to, team);
      case 4: return run_as<std::uint32_t>(from, to, team);
      default: return run_as<std::uint64_t>(from, to, team);
    }
  }

 private:
  void swap_dims(int i, int k) {
    std::swap(extent_[i], extent_[k]), std::swap(from_[i], from_[k]), std::swap(to_[i], to_[k]);
  }
  void remove(int at) {
    --count_;
    for (int i = at; i < count_; ++i) extent_[i] = extent_[i + 1], from_[i] = from_[i + 1], to_[i] = to_[i + 1];
  }

  template <class U>
  void run_as(void const* from, void* to, thread_team* team) const {
    std::int64_t const total = elements();
    if (total == 0) return;
    int const outer_dims = turned_ ? count_ - 2 : count_ - 1;
    std::int64_t outer = 1;
    for (int i = 0; i < outer_dims; ++i) outer *= extent_[i];
    std::int64_t const grain = std::max<std::int64_t>(1, 65536 * outer / total);
    auto const part = [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) {
        std::int64_t rest = i, at_from = 0, at_to = 0;
        for (int d = outer_dims; d-- > 0; rest /= extent_[d]) {
          at_from += rest % extent_[d] * from_[d];
          at_to += rest % extent_[d] * to_[d];
        }
        auto const* const x = static_cast<std::byte const*>(from) + at_from * bytes_;
        auto* const y = static_cast<std::byte*>(to) + at_to * bytes_;
        if (turned_) turn<U>(x, y);
        else row<U>(x, y);
      }
    };
    if (team == nullptr) part(0, outer);
    else team->parallel_for(outer, grain, part);
  }
  template <class U>
  void row(std::byte const* from, std::byte* to) const {
    int const d = count_ - 1;
    if (from_[d] == 1 && to_[d] == 1) {
      std::memcpy(to, from, static_cast<std::size_t>(extent_[d] * bytes_));
      return;
    }
    if (from_[d] == 0 && to_[d] == 1) {
      U one;
      std::memcpy(&one, from, sizeof one);
      for (std::int64_t i = 0; i < extent_[d]; ++i) std::memcpy(to + i * std::int64_t{sizeof one}, &one, sizeof one);
      return;
    }
    for (std::int64_t i = 0; i < extent_[d]; ++i)
      std::memcpy(to + i * to_[d] * bytes_, from + i * from_[d] * bytes_, sizeof(U));
  }
  template <class U>
  void turn(std::byte const* from, std::byte* to) const {
    constexpr std::int64_t tile = 16;
    int const a = count_ - 2, b = count_ - 1;
    for (std::int64_t i0 = 0; i0 < extent_[a]; i0 += tile)
      for (std::int64_t k0 = 0; k0 < extent_[b]; k0 += tile) {
        std::int64_t const i1 = std::min(extent_[a], i0 + tile), k1 = std::min(extent_[b], k0 + tile);
        for (std::int64_t i = i0; i < i1; ++i)
          for (std::int64_t k = k0; k < k1; ++k)
            std::memcpy(to + (i * to_[a] + k) * bytes_, from + (i + k * from_[b]) * bytes_, sizeof(U));
      }
  }

  std::int64_t bytes_ = 1;
  int count_ = 0;
  bool turned_ = false;
  std::int64_t extent_[max_dims_of_one] = {}, from_[max_dims_of_one] = {}, to_[max_dims_of_one] = {};
};

/// A copy of `extents` elements with dims matched by name. Dim `from` of x is called `to` in y.
inline strided_copy copy_by_name(view const& x, view const& y, dim_id from, dim_id to, std::int64_t const* extents) {
  std::int64_t strides[max_dims_of_one];
  for (int i = 0; i < y.count; ++i) {
    int const p = x.find(y.dim[i] == to ? id{from} : y.dim[i]);
    strides[i] = p < 0 ? 0 : x.stride[p];
  }
  return strided_copy(y, strides, extents, static_cast<std::int64_t>(bytes_of(y.type)));
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
