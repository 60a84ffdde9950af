// SPDX-License-Identifier: Apache-2.0
// Precompiles vector instructions over blocks of elements in memory, for every function and type, for the interpreter.
// Blocks hold register types, so a kernel's operands and results are converted when they are loaded and stored.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "meshtensor/base/config.hpp"
#include "meshtensor/device/cpu/fused/sum_levels.hpp"
#include "meshtensor/op/detail/number_arithmetic.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Computes out[i] = f(a[i], b[i], c[i]) for i in [0, n).
using block_function = void (*)(void* out, void const* a, void const* b, void const* c, std::int64_t n);

namespace detail {

/// Calls f(index, n) for each whole pack, with n = pack_width, and then once for the rest. It is flattened, like the
/// loops of kernels. `f` is a copy and holds copies, because the compiler would read a referenced variable again after
/// each store of a pack.
template <class F>
[[gnu::flatten]] inline void each_pack(std::int64_t n, F f) {
  std::int64_t i = 0;
  for (; i + pack_width <= n; i += pack_width) f(i, std::integral_constant<int, pack_width>{});
  if (i < n) f(i, static_cast<int>(n - i));
}
template <class E>
inline auto load_some(E const* p, std::integral_constant<int, pack_width>) {
  return load_pack(p);
}
template <class E>
inline auto load_some(E const* p, int n) {
  return load_pack(p, n);
}
template <class E>
inline void store_some(lane_pack<register_t<E>> const& v, E* p, std::integral_constant<int, pack_width>) {
  store_pack(v, p);
}
template <class E>
inline void store_some(lane_pack<register_t<E>> const& v, E* p, int n) {
  store_pack(v, p, n);
}

template <function F, class T>
void run_function(void* out, void const* a, void const* b, [[maybe_unused]] void const* c, std::int64_t n) {
  each_pack(n, [=](std::int64_t i, auto count) {
    auto const at = [&]<class X>(X const* p) { return load_some(p + i, count); };
    if constexpr (F == function::select) {
      store_some(select_packs(at(static_cast<std::int32_t const*>(a)), at(static_cast<T const*>(b)),
                              at(static_cast<T const*>(c))),
                 static_cast<T*>(out) + i, count);
    } else if constexpr (is_comparison(F)) {
      store_some(compare_packs<F>(at(static_cast<T const*>(a)), at(static_cast<T const*>(b))),
                 static_cast<std::int32_t*>(out) + i, count);
    } else if constexpr (arity(F) == 2) {
      store_some(apply_to_packs<F>(at(static_cast<T const*>(a)), at(static_cast<T const*>(b))),
                 static_cast<T*>(out) + i, count);
    } else {
      auto const x = at(static_cast<T const*>(a));
      store_some(apply_to_packs<F>(x, x), static_cast<T*>(out) + i, count);
    }
  });
}
template <class T, class To>
void run_cast(void* out, void const* a, void const*, void const*, std::int64_t n) {
  each_pack(n, [=](std::int64_t i, auto count) {
    store_some(convert_pack<To>(load_some(static_cast<T const*>(a) + i, count)), static_cast<To*>(out) + i, count);
  });
}
template <class T>
void run_is_not_zero(void* out, void const* a, void const*, void const*, std::int64_t n) {
  each_pack(n, [=](std::int64_t i, auto count) {
    store_some(compare_packs<function::not_equal>(load_some(static_cast<T const*>(a) + i, count), lane_pack<T>(T(0))),
               static_cast<std::int32_t*>(out) + i, count);
  });
}
template <class E>
void run_settle(void* out, void const* a, void const*, void const*, std::int64_t n) {
  using T = register_t<E>;
  each_pack(n, [=](std::int64_t i, auto count) {
    store_some(settled<E>(load_some(static_cast<T const*>(a) + i, count)), static_cast<T*>(out) + i, count);
  });
}

template <class T, std::size_t I>
constexpr block_function function_entry() {
  constexpr auto f = static_cast<function>(I);
  if constexpr (has_function<f, T>) return &run_function<f, T>;
  else return nullptr;
}
template <class T, std::size_t... I>
constexpr std::array<block_function, sizeof...(I)> function_entries(std::index_sequence<I...>) {
  return {function_entry<T, I>()...};
}
template <class T>
inline constexpr auto functions_of =
    function_entries<T>(std::make_index_sequence<static_cast<std::size_t>(function::count_)>{});

}  // namespace detail

/// Calls f.operator()<T>() with the register type of a dtype.
template <class F>
constexpr decltype(auto) with_register(dtype t, F&& f) {
  switch (t) {
    case dtype::f64: return f.template operator()<double>();
    case dtype::f32:
    case dtype::bf16: return f.template operator()<float>();
    case dtype::i64: return f.template operator()<std::int64_t>();
    default: return f.template operator()<std::int32_t>();
  }
}
inline std::int64_t register_bytes(dtype t) { return t == dtype::f64 || t == dtype::i64 ? 8 : 4; }

/// The function for operands of a dtype, or null if there is none. For a select, it is the dtype of the second operand.
template <class = lazy>
block_function block_of(function f, dtype operands) {
  return with_register(operands, [&]<class T>() { return detail::functions_of<T>[static_cast<std::size_t>(f)]; });
}
template <class = lazy>
block_function cast_block(dtype from, dtype to) {
  return with_register(from, [&]<class T>() -> block_function {
    if (to == dtype::boolean) return &detail::run_is_not_zero<T>;
    return with_register(to, []<class To>() -> block_function { return &detail::run_cast<T, To>; });
  });
}
/// The function that rounds or truncates a block to its dtype's range, or null if nothing is needed.
inline block_function settle_block(dtype t) {
  return t == dtype::bf16 ? &detail::run_settle<bf16_t> : t == dtype::u8 ? &detail::run_settle<std::uint8_t> : nullptr;
}
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
            d == distribution::uniform ? uniform_pack<T>(uniform, s, at, stride) : normal_pack<T>(s, at, stride);
        detail::store_some(settled<E>(x), static_cast<T*>(out) + i, count);
      });
    }
  });
}

// ---- reductions: totals have the type total_t ----

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
