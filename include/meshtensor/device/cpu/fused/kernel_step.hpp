// SPDX-License-Identifier: Apache-2.0
// Computes one step of a kernel on registers, with the arithmetic of its dtype, as the interpreter does.
#pragma once

#include "meshtensor/device/cpu/fused/items.hpp"
#include "meshtensor/device/cpu/fused/lane_pack/functions.hpp"
#include "meshtensor/pass/fuse/descriptor.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {
namespace detail {

/// The element type of a step, an operand or a number of a kernel.
template <descriptor D, int Code>
using element_of_code = element_t<D.type_of(source{Code})>;

/// Computes step I of a kernel from the values in its cells.
template <descriptor D, int I, class Cells>
[[gnu::always_inline]] inline void compute(Cells& c) {
  constexpr kernel_step s = D.step(I);
  constexpr auto f = static_cast<function>(s.kind);
  using E = element_of_code<D, I>;
  if constexpr (f == function::cast) {
    using From = register_t<element_of_code<D, s.from[0].code>>;
    auto const& x = of<s.from[0].code>(c);
    if constexpr (s.type == dtype::boolean) of<I>(c) = compare_packs<function::not_equal>(x, lane_pack<From>(From(0)));
    else of<I>(c) = settled<E>(cast_pack<E>(x));
  } else if constexpr (f == function::select) {
    of<I>(c) = select_packs(of<s.from[0].code>(c), of<s.from[1].code>(c), of<s.from[2].code>(c));
  } else if constexpr (is_comparison(f)) {
    of<I>(c) = compare_packs<f>(of<s.from[0].code>(c), of<s.from[1].code>(c));
  } else {
    constexpr int second = arity(f) == 2 ? 1 : 0;
    auto const y = apply_to_packs<f>(of<s.from[0].code>(c), of<s.from[second].code>(c));
    if constexpr (must_settle(f, s.type)) of<I>(c) = settled<E>(y);
    else of<I>(c) = y;
  }
}

}  // namespace detail
}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
