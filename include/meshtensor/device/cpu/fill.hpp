// SPDX-License-Identifier: Apache-2.0
// Fills variables with their initial values, with all threads, a register at a time: the bits of the plain loops.
#pragma once

#include "meshtensor/device/cpu/load.hpp"
#include "meshtensor/device/cpu/random.hpp"
#include "meshtensor/device/cpu/threads.hpp"
#include "meshtensor/op/detail/initial.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

/// Fills `count` contiguous elements; `index` is the global index of the first.
template <class T>
inline void fill_run(T* to, std::int64_t count, initial_value const& first, random_stream const& stream,
                     std::uint64_t index) {
  constexpr int width = vec<T>::width;
  vec<T> const argument(static_cast<T>(first.argument));
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

template <class T>
inline void fill_rows(view const& where, initial_value const& first, thread_team& team) {
  // Trailing dims that are not sharded form one run.
  int outer = where.count;
  std::int64_t run = 1, rows = 1;
  while (outer > 0 && where.extent[outer - 1] == where.total[outer - 1]) run *= where.extent[--outer];
  if (outer > 0) run *= where.extent[--outer];
  for (int i = 0; i < outer; ++i) rows *= where.extent[i];
  std::int64_t whole[max_dims_of_one] = {};  // strides in the whole tensor
  for (std::int64_t i = where.count, n = 1; i-- > 0; n *= where.total[i]) whole[i] = n;
  random_stream const stream(first.key, 0);
  constexpr std::int64_t grain = std::int64_t{1} << 14;
  team.parallel_for(rows * run, grain, [&](std::int64_t from, std::int64_t to) {
    while (from < to) {
      std::int64_t const row = from / run, column = from % run, count = std::min(to - from, run - column);
      std::int64_t index = column;
      for (int i = 0; i < where.count; ++i) index += where.origin[i] * whole[i];
      std::int64_t rest = row;
      for (int i = outer; i-- > 0; rest /= where.extent[i]) index += rest % where.extent[i] * whole[i];
      fill_run(where.as<T>() + from, count, first, stream, static_cast<std::uint64_t>(index));
      from += count;
    }
  });
}

}  // namespace detail

/// Like meshtensor::fill, for a dense block of zeros.
inline void fill(view const& where, initial_value const& first, thread_team& team) {
  if (first.is_zero() || where.size() == 0) return;
  switch (where.type) {
    case dtype::f32: return detail::fill_rows<float>(where, first, team);
    case dtype::f64: return detail::fill_rows<double>(where, first, team);
    default: return meshtensor::fill(where, first);
  }
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
