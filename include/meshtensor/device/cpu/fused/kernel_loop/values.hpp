// SPDX-License-Identifier: Apache-2.0
// The types of a kernel's values in registers, and its lists of steps and streams as sequences.
#pragma once

#include <cstdint>
#include <utility>

#include "meshtensor/device/cpu/fused/kernel_step.hpp"
#include "meshtensor/device/cpu/fused/loop_facts.hpp"
#include "meshtensor/device/cpu/fused/sum_levels.hpp"
#include "meshtensor/device/cpu/random.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

template <descriptor D>
struct kernel_values {
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
};

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
