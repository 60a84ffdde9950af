// SPDX-License-Identifier: Apache-2.0
// Compiles a descriptor to one loop over registers: its steps are unrolled, and intermediate values never reach memory.
// The loop gives the same bits as the interpreter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "meshtensor/device/cpu/fused.hpp"
#include "meshtensor/device/cpu/fused/block_reduction.hpp"
#include "meshtensor/device/cpu/fused/kernel_loop/task.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

namespace detail {

template <descriptor D>
struct kernel_loop : kernel_values<D> {
  using steps = typename kernel_values<D>::steps;
  template <int Code>
  using element = typename kernel_values<D>::template element<Code>;

  static void task(fused_kernel const& k, launch_arguments const& a, std::int64_t first, std::int64_t last,
                   std::byte* totals, std::byte* scratch) {
    kernel_task<D> b(k, a, scratch);
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
