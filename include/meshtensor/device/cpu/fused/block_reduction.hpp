// SPDX-License-Identifier: Apache-2.0
// Precompiles reductions over blocks of elements in memory, for every kind and type. Totals have the type total_t.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "meshtensor/base/config.hpp"
#include "meshtensor/device/cpu/fused/each_pack.hpp"
#include "meshtensor/device/cpu/fused/sum_levels.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// The functions of a reduction of one dtype on blocks.
struct block_reduction {
  std::int64_t bytes;                                        // of one total
  void (*start)(void* totals, std::int64_t n);               // sets n totals to the initial value
  void (*add)(void* totals, void const* x, std::int64_t n);  // totals[i] += x[i]
  // begin_row starts a row, which is then added block by block. `upper` has room for upper_levels.
  void (*begin_row)(void* lanes);
  void (*add_row)(void* lanes, void* upper, void const* x, std::int64_t n);
  void (*end_row)(void const* lanes, void const* upper, void* total);
  void (*merge)(void* totals, void const* others, std::int64_t n);  // totals[i] += others[i]
  void (*settle)(void* out, void const* totals, std::int64_t n);    // converts to registers of the dtype
  bool rounds;                                                      // a sum of floats
};
inline constexpr std::int64_t bytes_of_lanes = pack_width * 8 + 64;  // the lanes' sums, and then the number of packs

namespace detail {

template <reduction K, class E>
struct block_reduction_of {
  using T = register_t<E>;
  using total = total_t<T>;
  static void start(void* totals, std::int64_t n) {
    each_pack(n, [=](std::int64_t i, auto count) {
      store_some(lane_pack<total>(reduction_start<K, E>), static_cast<total*>(totals) + i, count);
    });
  }
  template <class X>
  static void add_as(void* totals, void const* x, std::int64_t n) {
    auto* const t = static_cast<total*>(totals);
    each_pack(n, [=](std::int64_t i, auto count) {
      auto const v = convert_pack<total>(load_some(static_cast<X const*>(x) + i, count));
      store_some(combined<K>(load_some(t + i, count), v), t + i, count);
    });
  }
  static std::int64_t& packs_in(void* lanes) {
    return *reinterpret_cast<std::int64_t*>(static_cast<std::byte*>(lanes) + pack_width * 8);
  }
  static void begin_row(void* lanes) {
    store_pack(lane_pack<total>(reduction_start<K, E>), static_cast<total*>(lanes));
    packs_in(lanes) = 0;
  }
  static void add_row(void* lanes, [[maybe_unused]] void* upper, void const* from, std::int64_t n) {
    auto const* x = static_cast<T const*>(from);
    auto sums = load_pack(static_cast<total const*>(lanes));
    std::int64_t& packs = packs_in(lanes);
    while (n > 0) {
      std::int64_t some = n;
      if constexpr (rounds<K, E>) {
        if (packs != 0 && packs % sum_fan_in == 0) {
          static_cast<upper_levels<total>*>(upper)->carry(sums, packs);
          sums = lane_pack<total>(reduction_start<K, E>);
        }
        some = std::min(n, (sum_fan_in - packs % sum_fan_in) * pack_width);
      }
      each_pack(some, [&](std::int64_t i, auto count) {
        auto v = convert_pack<total>(load_some(x + i, count));
        if constexpr (std::is_same_v<decltype(count), int>) v = first_lanes_of<K>(v, count);
        sums = combined<K>(sums, v);
      });
      packs += packs_of(some), x += some, n -= some;
    }
    store_pack(sums, static_cast<total*>(lanes));
  }
  static void end_row(void const* lanes, [[maybe_unused]] void const* upper, void* one) {
    auto sums = load_pack(static_cast<total const*>(lanes));
    if constexpr (rounds<K, E>)
      sums = static_cast<upper_levels<total> const*>(upper)->added_to(sums, packs_in(const_cast<void*>(lanes)));
    *static_cast<total*>(one) = folded<K>(sums);
  }
  static void settle(void* out, void const* totals, std::int64_t n) {
    each_pack(n, [=](std::int64_t i, auto count) {
      store_some(settled<E>(convert_pack<T>(load_some(static_cast<total const*>(totals) + i, count))),
                 static_cast<T*>(out) + i, count);
    });
  }
  static constexpr block_reduction all = {sizeof(total), &start,         &add_as<T>, &begin_row,  &add_row,
                                          &end_row,      &add_as<total>, &settle,    rounds<K, E>};
};

}  // namespace detail

template <class = lazy>
block_reduction const& reduction_block(reduction k, dtype t) {
  return with_element(t, [&]<class E>() -> block_reduction const& {
    switch (k) {
      case reduction::sum: return detail::block_reduction_of<reduction::sum, E>::all;
      case reduction::max: return detail::block_reduction_of<reduction::max, E>::all;
      default: return detail::block_reduction_of<reduction::min, E>::all;
    }
  });
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
