// SPDX-License-Identifier: Apache-2.0
// Loads, stores and fills blocks of elements, for the interpreter. Blocks hold register types, so a kernel's operands
// and results are converted when they are loaded and stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "meshtensor/device/cpu/fused/each_pack.hpp"
#include "meshtensor/device/cpu/fused/lane_pack/generate.hpp"
#include "meshtensor/graph/primitive.hpp"
#include "meshtensor/op/detail/number_arithmetic.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// load_block loads n elements of memory, `stride` apart, to a block, and store_block stores them.
inline void load_block(dtype t, void* out, std::byte const* from, std::int64_t stride, std::int64_t n) {
  with_element(t, [&]<class E>() {
    auto* const to = static_cast<register_t<E>*>(out);
    auto const* const p = reinterpret_cast<E const*>(from);
    if (stride == 1)
      return detail::each_pack(
          n, [=](std::int64_t i, auto count) { detail::store_some(detail::load_some(p + i, count), to + i, count); });
    detail::each_pack(n, [=](std::int64_t i, auto count) {
      if (stride == 0)
        detail::store_some(lane_pack<register_t<E>>(detail::number_of_element<register_t<E>>(*p)), to + i, count);
      else detail::store_some(load_pack_strided(p + i * stride, stride, count), to + i, count);
    });
  });
}
inline void store_block(dtype t, void const* from, std::byte* to, std::int64_t stride, std::int64_t n) {
  with_element(t, [&]<class E>() {
    auto const* const p = static_cast<register_t<E> const*>(from);
    auto* const out = reinterpret_cast<E*>(to);
    if (stride == 1)
      return detail::each_pack(n, [=](std::int64_t i, auto count) {
        detail::store_some<E>(detail::load_some(p + i, count), out + i, count);
      });
    detail::each_pack(n, [=](std::int64_t i, auto count) {
      store_pack_strided<E>(detail::load_some(p + i, count), out + i * stride, stride, count);
    });
  });
}
/// Repeats the element at `from` n times.
inline void fill_block(dtype t, void* out, void const* from, std::int64_t n) {
  with_register(t, [&]<class T>() {
    lane_pack<T> const v(*static_cast<T const*>(from));
    detail::each_pack(n, [=](std::int64_t i, auto count) { detail::store_some(v, static_cast<T*>(out) + i, count); });
  });
}
/// Writes a number as one element of a dtype, in its register type.
inline void number_block(dtype t, void* out, number_value const& number) {
  with_element(t, [&]<class E>() {
    *static_cast<register_t<E>*>(out) = detail::number_of_element<register_t<E>>(meshtensor::element_of<E>(number));
  });
}

inline void position_block(dtype t, void* out, std::int64_t first, std::int64_t stride, std::int64_t n) {
  with_element(t, [&]<class E>() {
    detail::each_pack(n, [=](std::int64_t i, auto count) {
      detail::store_some(positions<E>(first + i * stride, stride), static_cast<register_t<E>*>(out) + i, count);
    });
  });
}
inline void random_block(dtype t, void* out, distribution d, random_stream const& s, std::uint64_t first,
                         std::uint64_t stride, std::int64_t n) {
  with_element(t, [&]<class E>() {
    using T = register_t<E>;
    if constexpr (std::is_floating_point_v<T>) {
      uniform_source<T> uniform;
      detail::each_pack(n, [&](std::int64_t i, auto count) {
        auto const at = first + static_cast<std::uint64_t>(i) * stride;
        auto const x =
            d == distribution::uniform ? uniform_pack<E>(uniform, s, at, stride) : normal_pack<E>(s, at, stride);
        detail::store_some(x, static_cast<T*>(out) + i, count);
      });
    }
  });
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
