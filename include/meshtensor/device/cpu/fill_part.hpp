// SPDX-License-Identifier: Apache-2.0
// Fills a part of a variable with its initial value on one thread, a register at a time. The bits are those of the
// plain loops.
#pragma once

#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/random.hpp"
#include "meshtensor/op/detail/initial.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// Fills `count` contiguous elements. `index` is the global index of the first one.
template <class T>
inline void fill_run(T* to, std::int64_t count, initial_value const& first, random_stream const& stream,
                     std::uint64_t index) {
  constexpr int width = vec<T>::width;
  vec<T> const argument(static_cast<T>(first.argument.real));
  uniform_source<T> uniform;
  for (std::int64_t i = 0; i < count; i += width) {
    vec<T> x = argument;
    auto const at = index + static_cast<std::uint64_t>(i);
    if (first.kind == initializer_kind::normal) x = cpu::random_normal<T>(stream, at) * argument;
    if (first.kind == initializer_kind::uniform) x = (uniform(stream, at) * vec<T>(2) - vec<T>(1)) * argument;
    if (i + width <= count) store(x, to + i);
    else store(x, to + i, static_cast<int>(count - i));
  }
}

/// The rows of a dense block. A row has elements that are adjacent both in memory and in the whole tensor.
class rows_of_block {
 public:
  explicit rows_of_block(view const& where) : where_(where), outer_(where.count) {
    while (outer_ > 0 && where.extent[outer_ - 1] == where.total[outer_ - 1]) row_ *= where.extent[--outer_];
    if (outer_ > 0) row_ *= where.extent[--outer_];
    for (std::int64_t i = where.count, n = 1; i-- > 0; n *= where.total[i])
      whole_[i] = n, first_ += where.origin[i] * n;
  }

  /// Fills the elements from `from` to `to`, counted in the block.
  template <class T>
  void fill(std::int64_t from, std::int64_t to, initial_value const& first) const {
    random_stream const stream(first.key, 0);
    while (from < to) {
      std::int64_t const column = from % row_, count = std::min(to - from, row_ - column);
      std::int64_t index = first_ + column, rest = from / row_;
      for (int i = outer_; i-- > 0; rest /= where_.extent[i]) index += rest % where_.extent[i] * whole_[i];
      fill_run(where_.as<T>() + from, count, first, stream, static_cast<std::uint64_t>(index));
      from += count;
    }
  }

 private:
  view where_;
  int outer_;  // the number of dims outside of a row
  std::int64_t row_ = 1, first_ = 0;
  std::int64_t whole_[max_dims_of_one] = {};  // strides in the whole tensor
};

}  // namespace detail

/// Like meshtensor::fill, for a dense block of zeros.
inline void fill_part(view const& where, initial_value const& first) {
  if (first.is_zero() || where.size() == 0) return;
  detail::rows_of_block const rows(where);
  switch (where.type) {
    case dtype::f32: return rows.fill<float>(0, where.size(), first);
    case dtype::f64: return rows.fill<double>(0, where.size(), first);
    default: return meshtensor::fill(where, first);
  }
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
