// SPDX-License-Identifier: Apache-2.0
// Compiles a descriptor to one loop over registers: its steps are unrolled, and intermediate values never reach memory.
// The loop gives the same bits as the interpreter.
#pragma once

#include <utility>

#include "meshtensor/device/cpu/fused.hpp"
#include "meshtensor/device/cpu/fused/kernel_step.hpp"
#include "meshtensor/device/cpu/fused/loop_facts.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

template <descriptor D>
struct kernel_loop {
  using steps = typename below<D.step_count>::type;
  using operands = typename below<D.operand_count>::type;
  using numbers = typename below<D.number_count>::type;
  using results = typename below<D.result_count>::type;

  static constexpr source at_step(int i) { return {static_cast<std::uint8_t>(i)}; }
  template <int Code>
  using element = element_of_code<D, Code>;
  template <int Code>
  using registers = lane_pack<register_t<element<Code>>>;
  /// The values of a kernel: uniform ones of a whole task, row values of a row, and vector values of a few elements.
  using cells = items<typename joined<steps, typename moved<source::operands, operands>::type,
                                      typename moved<source::numbers, numbers>::type>::type,
                      registers>;
  /// The lanes of a reduction along the vector, for one row.
  template <int I>
  using totals_of = total_t<register_t<element<I>>>;
  template <int I>
  using lanes = lane_pack<totals_of<I>>;
  template <int I>
  using levels = upper_levels<totals_of<I>>;
  /// The sources of the uniform random numbers of a vector step, for a whole task.
  template <int I>
  using uniforms = uniform_source<register_t<element<I>>>;

  static constexpr loop_facts facts{D};

  /// A list of loop_facts, of one phase or of all phases, as a sequence. For example, `all<&loop_facts::starts, P>{}`.
  template <auto List, int P>
  static constexpr chosen const& list() {
    if constexpr (P < 0) return facts.*List;
    else return (facts.*List)[P];
  }
  template <auto List, int P, class Sequence>
  struct items_of;
  template <auto List, int P, int... K>
  struct items_of<List, P, std::integer_sequence<int, K...>> {
    using type = std::integer_sequence<int, list<List, P>().at[K]...>;
  };
  template <auto List, int P = -1>
  using all = typename items_of<List, P, std::make_integer_sequence<int, list<List, P>().count>>::type;

  // ---- one task ----

  struct body {
    fused_kernel const& k;
    launch_arguments const& a;
    std::byte* scratch;
    std::int64_t row_bytes;
    cells uniform;
    items<all<&loop_facts::random_steps>, uniforms> drawn;

    body(fused_kernel const& kernel, launch_arguments const& given, std::byte* own)
        : k(kernel), a(given), scratch(own), row_bytes(bytes_of_scratch_row(kernel.width)) {
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
      (splat<I>(uniform, 0), ...);
    }
    template <int I>
    void splat(cells& c, std::int64_t offset) const {
      using E = element<source::operands + I>;
      of<source::operands + I>(c) = registers<source::operands + I>(
          number_of_element<register_t<E>>(reinterpret_cast<E const*>(a.memory[I])[offset]));
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
      load_rows(c, t, r, all<&loop_facts::row_operands>{});
      (phase<P>(c, t, r), ...);
      store_rows(c, t, r, all<&loop_facts::row_results>{});
    }
    template <int... I>
    void load_rows([[maybe_unused]] cells& c, [[maybe_unused]] tile const& t, [[maybe_unused]] std::int64_t r,
                   std::integer_sequence<int, I...>) const {
      (splat<I>(c, t.offset[I] + r * t.row_stride[I]), ...);
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
      places<P> all;
      all.scratch = scratch, all.row_bytes = row_bytes;
      ((of<O>(all) = in_memory<O, source::operands + O>(t, r)), ...);
      ((of<first_result_stream + R>(all) = in_memory<first_result_stream + R, D.result(R).code>(t, r)), ...);
      ((of<first_step_stream + S>(all) = by_index<S>(t, r)), ...);
      return all;
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

    template <int P>
    void phase(cells& c, tile const& t, std::int64_t r) {
      items<all<&loop_facts::ends, P>, lanes> sums;
      items<all<&loop_facts::rounded_sums, P>, levels> upper;
      start(c, sums, t, r, all<&loop_facts::starts, P>{});
      if constexpr (facts.has_vector[P]) {
        places<P> const at = places_in<P>(t, r, all<&loop_facts::operands, P>{}, all<&loop_facts::vector_results>{},
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
      using T = register_t<element<I>>;
      auto const at = static_cast<std::uint64_t>(first), by = static_cast<std::uint64_t>(stride);
      if constexpr (D.step(I).kind == step_kind::uniform)
        of<I>(c) = settled<element<I>>(uniform_pack<T>(from, a.random[I], at, by));
      else of<I>(c) = settled<element<I>>(normal_pack<T>(a.random[I], at, by));
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
      load(c, at, i, n, all<&loop_facts::operands, P>{});
      load_again(c, at, i, all<&loop_facts::rereads, P>{});
      run(c, sums, at, i, n, all<&loop_facts::steps, P>{});
      if constexpr (P == D.phases() - 1) store(c, at, i, n, all<&loop_facts::last_results>{});
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
        if constexpr (facts.place[I] >= 0) store_pack(of<I>(c), scratch_row<I>(at) + i);
        store_step<I>(c, at, i, n, results{});
      }
    }
    template <int I, class N, int... R>
    [[gnu::always_inline]] static void store_step([[maybe_unused]] cells& c, [[maybe_unused]] auto const& at,
                                                  [[maybe_unused]] std::int64_t i, [[maybe_unused]] N n,
                                                  std::integer_sequence<int, R...>) {
      (store_if<D.result(R) == at_step(I), R>(c, at, i, n), ...);
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
  };

  static void task(fused_kernel const& k, launch_arguments const& a, std::int64_t first, std::int64_t last,
                   std::byte* totals, std::byte* scratch) {
    body b(k, a, scratch);
    walk_rows(k, first, last, totals, [&](tile const& t) { b(t); });
  }

  template <int I>
  static constexpr block_reduction const* reduction_of_step() {
    constexpr kernel_step s = D.step(I);
    if constexpr (is_reduction(s.kind)) return &block_reduction_of<reduction_of(s.kind), element<I>>::all;
    else return nullptr;
  }
  template <class S>
  struct reductions_of;
  template <int... S>
  struct reductions_of<std::integer_sequence<int, S...>> {
    static constexpr block_reduction const* all[] = {reduction_of_step<S>()..., nullptr};
  };
  static constexpr block_reduction const* const* reductions = reductions_of<steps>::all;
};

}  // namespace detail

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
