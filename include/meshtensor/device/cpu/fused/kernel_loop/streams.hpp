// SPDX-License-Identifier: Apache-2.0
// The streams of a kernel's row: where they begin, and how row values and registers of elements are loaded and
// stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "meshtensor/device/cpu/fused.hpp"
#include "meshtensor/device/cpu/fused/each_pack.hpp"
#include "meshtensor/device/cpu/fused/kernel_loop/values.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// The memory of one task, as its tiles give it.
template <descriptor D>
struct kernel_streams : kernel_values<D> {
  using values = kernel_values<D>;
  using typename values::cells;
  template <int Code>
  using registers = typename values::template registers<Code>;
  template <int Code>
  using element = typename values::template element<Code>;
  template <auto List, int P = -1>
  using all = typename values::template all<List, P>;
  using values::facts;

  fused_kernel const& k;
  launch_arguments const& a;
  std::byte* scratch;
  std::int64_t row_bytes;

  kernel_streams(fused_kernel const& kernel, launch_arguments const& given, std::byte* own)
      : k(kernel), a(given), scratch(own), row_bytes(bytes_of_scratch_row(kernel.width)) {}

  template <int I>
  void splat(cells& c, std::int64_t offset) const {
    using E = element<source::operands + I>;
    of<source::operands + I>(c) = registers<source::operands + I>(
        number_of_element<register_t<E>>(reinterpret_cast<E const*>(a.memory[I])[offset]));
  }
  template <int... I>
  void load_rows([[maybe_unused]] cells& c, [[maybe_unused]] tile const& t, [[maybe_unused]] std::int64_t r,
                 std::integer_sequence<int, I...>) const {
    (splat<I>(c, t.offset[I] + r * t.row_stride[I]), ...);
  }
  template <int... R>
  void store_rows([[maybe_unused]] cells& c, [[maybe_unused]] tile const& t, [[maybe_unused]] std::int64_t r,
                  std::integer_sequence<int, R...>) const {
    (store_row<R>(c, t, r), ...);
  }
  template <int R>
  void store_row(cells& c, tile const& t, std::int64_t r) const {
    constexpr source s = D.result(R);
    using E = element<s.code>;
    constexpr int stream = first_result_stream + R;
    if (D.result_class(R) == extent_class::uniform && !(t.first && r == 0)) return;
    auto* const p = reinterpret_cast<E*>(a.memory[stream]) + t.offset[stream] + r * t.row_stride[stream];
    store_pack<E>(of<s.code>(c), p, 1);
  }

  // The start and stride of a row's streams, copied to local variables. As far as the compiler knows, a store of a
  // register may change any memory, but not a local variable.
  struct place {
    std::byte* begin;
    std::int64_t first, across;  // of streams with an index
  };
  template <int>
  using place_of = place;
  template <int P>
  struct places
      : items<typename joined<all<&loop_facts::operands, P>,
                              typename moved<first_result_stream, all<&loop_facts::vector_results>>::type,
                              typename moved<first_step_stream, all<&loop_facts::walking_steps, P>>::type>::type,
              place_of> {
    std::byte* scratch;
    std::int64_t row_bytes;
  };
  template <int P, int... O, int... R, int... S>
  [[gnu::always_inline]] places<P> places_in(tile const& t, [[maybe_unused]] std::int64_t r,
                                             std::integer_sequence<int, O...>, std::integer_sequence<int, R...>,
                                             std::integer_sequence<int, S...>) const {
    places<P> at;
    at.scratch = scratch, at.row_bytes = row_bytes;
    ((of<O>(at) = in_memory<O, source::operands + O>(t, r)), ...);
    ((of<first_result_stream + R>(at) = in_memory<first_result_stream + R, D.result(R).code>(t, r)), ...);
    ((of<first_step_stream + S>(at) = by_index<S>(t, r)), ...);
    return at;
  }
  template <int Stream, int Code>
  place in_memory(tile const& t, std::int64_t r) const {
    std::int64_t const first = t.offset[Stream] + r * t.row_stride[Stream];
    return {a.memory[Stream] + first * static_cast<std::int64_t>(sizeof(element<Code>)), 0, k.across[Stream]};
  }
  template <int I>
  place by_index(tile const& t, std::int64_t r) const {
    constexpr int stream = first_step_stream + I;
    if constexpr (goes_over(D.step(I).kind)) return {t.totals + k.total_at[I], 0, 0};
    else return {nullptr, t.offset[stream] + r * t.row_stride[stream], k.across[stream]};
  }

  template <class N, int... O>
  [[gnu::always_inline]] static void load([[maybe_unused]] cells& c, [[maybe_unused]] auto const& at,
                                          [[maybe_unused]] std::int64_t i, [[maybe_unused]] N n,
                                          std::integer_sequence<int, O...>) {
    (load_vector<O>(c, of<O>(at), i, n), ...);
  }
  template <int O, class N>
  [[gnu::always_inline]] static void load_vector(cells& c, place const& from, std::int64_t i, N n) {
    auto const* const p = reinterpret_cast<element<source::operands + O> const*>(from.begin);
    if constexpr (D.operand_class(O) == extent_class::vector) of<source::operands + O>(c) = load_some(p + i, n);
    else of<source::operands + O>(c) = load_pack_strided(p + i * from.across, from.across, n);
  }
  template <int... I>
  [[gnu::always_inline]] static void load_again([[maybe_unused]] cells& c, [[maybe_unused]] auto const& at,
                                                [[maybe_unused]] std::int64_t i, std::integer_sequence<int, I...>) {
    ((of<I>(c) = load_pack(scratch_row<I>(at) + i)), ...);
  }
  template <int I>
  [[gnu::always_inline]] static auto* scratch_row(auto const& at) {
    return reinterpret_cast<register_t<element<I>>*>(at.scratch + facts.place[I] * at.row_bytes);
  }
  template <int I, class N, int... R>
  [[gnu::always_inline]] static void store_step([[maybe_unused]] cells& c, [[maybe_unused]] auto const& at,
                                                [[maybe_unused]] std::int64_t i, [[maybe_unused]] N n,
                                                std::integer_sequence<int, R...>) {
    (store_if<D.result(R) == values::at_step(I), R>(c, at, i, n), ...);
  }
  template <class N, int... R>
  [[gnu::always_inline]] static void store([[maybe_unused]] cells& c, [[maybe_unused]] auto const& at,
                                           [[maybe_unused]] std::int64_t i, [[maybe_unused]] N n,
                                           std::integer_sequence<int, R...>) {
    (store_if<true, R>(c, at, i, n), ...);
  }
  template <bool Here, int R, class N>
  [[gnu::always_inline]] static void store_if([[maybe_unused]] cells& c, [[maybe_unused]] auto const& at,
                                              [[maybe_unused]] std::int64_t i, [[maybe_unused]] N n) {
    if constexpr (Here) {
      constexpr int code = D.result(R).code, stream = first_result_stream + R;
      using E = element<code>;
      place const& to = of<stream>(at);
      auto* const p = reinterpret_cast<E*>(to.begin);
      if constexpr (D.result_class(R) == extent_class::strided)
        store_pack_strided<E>(of<code>(c), p + i * to.across, to.across, n);
      else store_some<E>(of<code>(c), p + i, n);
    }
  }
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
