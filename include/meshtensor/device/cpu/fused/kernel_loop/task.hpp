// SPDX-License-Identifier: Apache-2.0
// One task of a kernel's loop: it computes the rows of its tiles, a register of elements at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "meshtensor/device/cpu/fused/kernel_loop/streams.hpp"
#include "meshtensor/device/cpu/fused/lane_pack/generate.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// The run of one task. Its uniform values are computed once, when it begins.
template <descriptor D>
struct kernel_task : kernel_streams<D> {
  using values = kernel_values<D>;
  using streams = kernel_streams<D>;
  using typename values::cells;
  using typename values::numbers;
  using typename values::results;
  template <int Code>
  using element = typename values::template element<Code>;
  template <int Code>
  using registers = typename values::template registers<Code>;
  template <int I>
  using totals_of = typename values::template totals_of<I>;
  template <int I>
  using lanes = typename values::template lanes<I>;
  template <int I>
  using levels = typename values::template levels<I>;
  template <int I>
  using uniforms = typename values::template uniforms<I>;
  template <auto List, int P = -1>
  using all = typename values::template all<List, P>;
  using typename streams::place;
  template <int P>
  using places = typename streams::template places<P>;
  using streams::a;
  using streams::k;
  using values::facts;

  cells uniform;
  items<all<&loop_facts::random_steps>, uniforms> drawn;

  kernel_task(fused_kernel const& kernel, launch_arguments const& given, std::byte* own) : streams(kernel, given, own) {
    set_numbers(numbers{});
    set_uniform_operands(all<&loop_facts::uniform_operands>{});
    run_uniform(all<&loop_facts::uniform_steps>{});
  }
  template <int... I>
  void set_numbers(std::integer_sequence<int, I...>) {
    (set_number<I>(), ...);
  }
  template <int I>
  void set_number() {
    using E = element<source::numbers + I>;
    of<source::numbers + I>(uniform) =
        registers<source::numbers + I>(number_of_element<register_t<E>>(meshtensor::element_of<E>(a.numbers[I])));
  }
  template <int... I>
  void set_uniform_operands(std::integer_sequence<int, I...>) {
    (this->template splat<I>(uniform, 0), ...);
  }
  template <int... I>
  void run_uniform(std::integer_sequence<int, I...>) {
    (compute<D, I>(uniform), ...);
  }

  /// Inlines every call, because g++ would otherwise call each register operation in a large file.
  [[gnu::flatten]] void operator()(tile const& t) {
    for (std::int64_t r = 0; r < t.rows; ++r) {
      if constexpr (facts.has_totals)
        if (std::int64_t const n = t.row + r; n != 0 && n % sum_fan_in == 0) carry_all_totals(k, t.totals, n);
      row(t, r, std::make_integer_sequence<int, D.phases()>{});
    }
  }
  template <int... P>
  void row(tile const& t, std::int64_t r, std::integer_sequence<int, P...>) {
    cells c = uniform;
    this->load_rows(c, t, r, all<&loop_facts::row_operands>{});
    (phase<P>(c, t, r), ...);
    this->store_rows(c, t, r, all<&loop_facts::row_results>{});
  }

  template <int P>
  void phase(cells& c, tile const& t, std::int64_t r) {
    items<all<&loop_facts::ends, P>, lanes> sums;
    items<all<&loop_facts::rounded_sums, P>, levels> upper;
    start(c, sums, t, r, all<&loop_facts::starts, P>{});
    if constexpr (facts.has_vector[P]) {
      places<P> const at =
          this->template places_in<P>(t, r, all<&loop_facts::operands, P>{}, all<&loop_facts::vector_results>{},
                                      all<&loop_facts::walking_steps, P>{});
      cells const row_values = c;
      std::int64_t const width = t.width;
      std::int64_t i = 0;
      auto const up_to = [&](std::int64_t limit) {
        if constexpr (optimizes)
          for (; i + pack_width <= limit; i += pack_width)
            batch<P>(row_values, sums, at, i, std::integral_constant<int, pack_width>{});
        for (; i < limit; i += pack_width)
          batch<P>(row_values, sums, at, i, static_cast<int>(std::min<std::int64_t>(pack_width, limit - i)));
      };
      if constexpr (facts.rounded_sums[P].count > 0)
        for (std::int64_t limit = sum_fan_in * pack_width; limit < width; limit += sum_fan_in * pack_width) {
          up_to(limit);
          carry(sums, upper, i / pack_width, all<&loop_facts::rounded_sums, P>{});
        }
      up_to(width);
    }
    add_levels(sums, upper, packs_of(t.width), all<&loop_facts::rounded_sums, P>{});
    end(c, sums, t, all<&loop_facts::ends, P>{});
  }
  template <int... I>
  static void carry(auto& sums, auto& upper, std::int64_t packs, std::integer_sequence<int, I...>) {
    (carry_step<I>(sums, upper, packs), ...);
  }
  template <int I>
  static void carry_step(auto& sums, auto& upper, std::int64_t packs) {
    lanes<I> const carried = of<I>(sums);  // a copy, so that the sums themselves have no address
    of<I>(upper).carry(carried, packs);
    of<I>(sums) = lanes<I>(reduction_start<reduction::sum, element<I>>);
  }
  template <int... I>
  static void add_levels([[maybe_unused]] auto& sums, [[maybe_unused]] auto const& upper,
                         [[maybe_unused]] std::int64_t packs, std::integer_sequence<int, I...>) {
    ((of<I>(sums) = of<I>(upper).added_to(of<I>(sums), packs)), ...);
  }
  // The work for a row before its elements and after them.
  template <int... I>
  void start([[maybe_unused]] cells& c, [[maybe_unused]] auto& sums, [[maybe_unused]] tile const& t,
             [[maybe_unused]] std::int64_t r, std::integer_sequence<int, I...>) {
    (start_step<I>(c, sums, t, r), ...);
  }
  template <int I>
  void start_step(cells& c, [[maybe_unused]] auto& sums, [[maybe_unused]] tile const& t,
                  [[maybe_unused]] std::int64_t r) {
    constexpr kernel_step s = D.step(I);
    constexpr int stream = first_step_stream + I;
    if constexpr (goes_along(s.kind) || is_total(s.kind)) {
      of<I>(sums) = lane_pack<totals_of<I>>(reduction_start<reduction_of(s.kind), element<I>>);
    } else if constexpr (goes_over(s.kind)) {
      add_total<I>(t, convert_pack<totals_of<I>>(of<s.from[0].code>(c)).lane_array().at[0]);
    } else if constexpr (s.kind == step_kind::position) {
      of<I>(c) = positions<element<I>>(t.offset[stream] + r * t.row_stride[stream], 0);
    } else if constexpr (is_random(s.kind)) {
      uniform_source<register_t<element<I>>> once;
      draw<I>(c, once, t.offset[stream] + r * t.row_stride[stream], 0);
    } else {
      compute<D, I>(c);
    }
  }
  template <int I>
  [[gnu::always_inline]] void draw(cells& c, [[maybe_unused]] uniform_source<register_t<element<I>>>& from,
                                   std::int64_t first, std::int64_t stride) const {
    auto const at = static_cast<std::uint64_t>(first), by = static_cast<std::uint64_t>(stride);
    if constexpr (D.step(I).kind == step_kind::uniform) of<I>(c) = uniform_pack<element<I>>(from, a.random[I], at, by);
    else of<I>(c) = normal_pack<element<I>>(a.random[I], at, by);
  }
  template <int I>
  void add_total(tile const& t, totals_of<I> x) const {
    auto* const total = reinterpret_cast<totals_of<I>*>(t.totals + k.total_at[I]);
    *total = combined<reduction_of(D.step(I).kind)>(*total, x);
  }
  template <int... I>
  void end([[maybe_unused]] cells& c, [[maybe_unused]] auto& sums, [[maybe_unused]] tile const& t,
           std::integer_sequence<int, I...>) {
    (end_step<I>(c, sums, t), ...);
  }
  template <int I>
  void end_step([[maybe_unused]] cells& c, auto& sums, [[maybe_unused]] tile const& t) {
    constexpr kernel_step s = D.step(I);
    auto const sum = folded<reduction_of(s.kind)>(of<I>(sums));
    if constexpr (is_total(s.kind)) add_total<I>(t, sum);
    else of<I>(c) = settled<element<I>>(convert_pack<register_t<element<I>>>(lane_pack<totals_of<I>>(sum)));
  }

  // The work for the elements of one register.
  template <int P, class N>
  [[gnu::always_inline]] void batch(cells const& row_values, auto& sums, places<P> const& at, std::int64_t i, N n) {
    cells c = row_values;
    this->load(c, at, i, n, all<&loop_facts::operands, P>{});
    this->load_again(c, at, i, all<&loop_facts::rereads, P>{});
    run(c, sums, at, i, n, all<&loop_facts::steps, P>{});
    if constexpr (P == D.phases() - 1) this->store(c, at, i, n, all<&loop_facts::last_results>{});
  }
  template <class N, int... I>
  [[gnu::always_inline]] void run([[maybe_unused]] cells& c, [[maybe_unused]] auto& sums,
                                  [[maybe_unused]] auto const& at, [[maybe_unused]] std::int64_t i,
                                  [[maybe_unused]] N n, std::integer_sequence<int, I...>) {
    (run_vector<I>(c, sums, at, i, n), ...);
  }
  template <int I, class N>
  [[gnu::always_inline]] void run_vector(cells& c, [[maybe_unused]] auto& sums, auto const& at, std::int64_t i, N n) {
    constexpr kernel_step s = D.step(I);
    constexpr int stream = first_step_stream + I;
    if constexpr (is_reduction(s.kind)) {
      constexpr reduction kind = reduction_of(s.kind);
      auto x = convert_pack<totals_of<I>>(of<s.from[0].code>(c));
      if constexpr (goes_over(s.kind)) {
        auto* const total = reinterpret_cast<totals_of<I>*>(of<stream>(at).begin) + i;
        store_some(combined<kind>(load_some(total, n), x), total, n);
      } else {
        if constexpr (std::is_same_v<N, int>) x = first_lanes_of<kind>(x, n);
        auto& sum = of<I>(sums);
        sum = combined<kind>(sum, x);
      }
    } else {
      if constexpr (s.kind == step_kind::position) {
        place const& from = of<stream>(at);
        of<I>(c) = positions<element<I>>(from.first + i * from.across, from.across);
      } else if constexpr (is_random(s.kind)) {
        place const& from = of<stream>(at);
        draw<I>(c, of<I>(drawn), from.first + i * from.across, from.across);
      } else {
        compute<D, I>(c);
      }
      if constexpr (facts.place[I] >= 0) store_pack(of<I>(c), streams::template scratch_row<I>(at) + i);
      this->template store_step<I>(c, at, i, n, results{});
    }
  }
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
