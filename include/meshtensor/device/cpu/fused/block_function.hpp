// SPDX-License-Identifier: Apache-2.0
// Precompiles vector instructions over blocks of elements in memory, for every function and type, for the interpreter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "meshtensor/base/config.hpp"
#include "meshtensor/device/cpu/fused/each_pack.hpp"
#include "meshtensor/device/cpu/fused/lane_pack/functions.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Computes out[i] = f(a[i], b[i], c[i]) for i in [0, n).
using block_function = void (*)(void* out, void const* a, void const* b, void const* c, std::int64_t n);

namespace detail {

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
template <class T, class E>
void run_cast(void* out, void const* a, void const*, void const*, std::int64_t n) {
  each_pack(n, [=](std::int64_t i, auto count) {
    auto const x = load_some(static_cast<T const*>(a) + i, count);
    store_some(cast_pack<E>(x), static_cast<register_t<E>*>(out) + i, count);
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

/// The function for operands of a dtype, or null if there is none. For a select, it is the dtype of the second operand.
template <class = lazy>
block_function block_of(function f, dtype operands) {
  return with_register(operands, [&]<class T>() { return detail::functions_of<T>[static_cast<std::size_t>(f)]; });
}
template <class = lazy>
block_function cast_block(dtype from, dtype to) {
  return with_register(from, [&]<class T>() -> block_function {
    if (to == dtype::boolean) return &detail::run_is_not_zero<T>;
    if (to == dtype::u8) return &detail::run_cast<T, std::uint8_t>;
    return with_register(to, []<class To>() -> block_function { return &detail::run_cast<T, To>; });
  });
}
/// The function that rounds or truncates a block to its dtype's range, or null if nothing is needed.
inline block_function settle_block(dtype t) {
  return t == dtype::bf16 ? &detail::run_settle<bf16_t> : t == dtype::u8 ? &detail::run_settle<std::uint8_t> : nullptr;
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
