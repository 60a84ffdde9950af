// SPDX-License-Identifier: Apache-2.0
// Copies boxes of elements on the GPU by their strides. Slices, pads, shifts, concats and transposes consist of such
// copies.
#pragma once

#include <cstdint>
#include <cstring>

#include "meshtensor/device/cuda/recording.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cuda {

/// Copies boxes of elements of 1, 2, 4, 8 or 16 bytes. Extents and strides are arguments of the launch.
class box_copier {
 public:
  explicit box_copier(preparation& p) : block_(p.block()) {
    constexpr char const* units[] = {"unsigned char", "unsigned short", "u32", "u64", "pack<u64, 2>"};
    for (std::size_t k = 0; k < 5; ++k)
      number_[k] =
          p.over_elements(joined({"if (i >= a.n[0]) return;\ntypedef ", units[k],
                                  " unit;\nu64 r = (u64)i;\ni64 to = 0, from = 0;\nfor (int d = (int)a.n[1]; "
                                  "d-- > 0;) {\nconst u64 q = a.n[0] < 0x7fffffffll ? (u64)((u32)r / (u32)a.n[2 + "
                                  "d]) : r / (u64)a.n[2 + d];\nconst i64 at = (i64)(r - q * (u64)a.n[2 + d]);\nto "
                                  "+= at * a.n[12 + d]; from += at * a.n[22 + d]; r = "
                                  "q;\n}\n((unit*)a.p[1])[to] = ((const unit*)a.p[0])[from];\n"}),
                          1)
              .number;
  }

  /// Copies a box with these extents. Strides are in elements of `bytes` bytes.
  void copy(recording& to_do, address to, std::int64_t const* to_stride, address from, std::int64_t const* from_stride,
            std::int64_t const* extent, int dims, std::int64_t bytes) const {
    static_assert(max_dims_of_one <= 10, "the kernel reads extents from a.n[2], and strides from a.n[12] and a.n[22]");
    std::int64_t n[max_dims_of_one] = {}, t[max_dims_of_one] = {}, f[max_dims_of_one] = {}, all = 1;
    int count = 0;
    for (int d = 0; d < dims; ++d) {
      all *= extent[d];
      if (extent[d] == 1) continue;
      if (count > 0 && t[count - 1] == to_stride[d] * extent[d] && f[count - 1] == from_stride[d] * extent[d])
        n[count - 1] *= extent[d], t[count - 1] = to_stride[d], f[count - 1] = from_stride[d];
      else n[count] = extent[d], t[count] = to_stride[d], f[count++] = from_stride[d];
    }
    if (all == 0) return;
    if (count == 0) return to_do.copy(to, from, bytes);
    bool const runs = t[count - 1] == 1 && f[count - 1] == 1;
    if (runs && count == 1) return to_do.copy(to, from, n[0] * bytes);
    // Copies wider units, if runs, strides and addresses are multiples of them.
    auto const address_bits = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from);
    while (runs && bytes < 16 && n[count - 1] % 2 == 0 && address_bits % static_cast<std::uintptr_t>(2 * bytes) == 0) {
      bool even = true;
      for (int d = 0; d + 1 < count; ++d) even = even && t[d] % 2 == 0 && f[d] % 2 == 0;
      if (!even) break;
      bytes *= 2, n[count - 1] /= 2, all /= 2;
      for (int d = 0; d + 1 < count; ++d) t[d] /= 2, f[d] /= 2;
    }
    launch_arguments a;
    std::memset(&a, 0, sizeof a);
    a.p[0] = from, a.p[1] = to, a.n[0] = all, a.n[1] = count;
    for (int d = 0; d < count; ++d) a.n[2 + d] = n[d], a.n[12 + d] = t[d], a.n[22 + d] = f[d];
    std::size_t size = 0;
    while ((std::int64_t{1} << size) < bytes) ++size;
    to_do.launch({number_[size], {(all + block_ - 1) / block_, block_}}, a);
  }
  /// Copies by the names of dims, as `detail::copy_by_name` does.
  void by_name(recording& to_do, view const& x, std::int64_t x_first, view const& y, std::int64_t y_first, id from,
               id to, std::int64_t const* extent) const {
    std::int64_t strides[max_dims_of_one];
    for (int i = 0; i < y.count; ++i) {
      int const p = x.find(y.dim[i] == to ? from : id{y.dim[i]});
      strides[i] = p < 0 ? 0 : x.stride[p];
    }
    auto const bytes = static_cast<std::int64_t>(bytes_of(y.type));
    copy(to_do, y.as<std::byte>() + y_first * bytes, y.stride, x.as<std::byte>() + x_first * bytes, strides, extent,
         y.count, bytes);
  }

 private:
  std::size_t number_[5] = {};
  int block_;
};

}  // namespace meshtensor::cuda
