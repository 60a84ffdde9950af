// SPDX-License-Identifier: Apache-2.0
// Streaming DiLoCo: fragments of the parameters take their outer steps one after the other, so that messages are spread
// over the period.
#pragma once

#include "meshtensor/regime/slow_momentum.hpp"

namespace meshtensor {

/// DiLoCo whose parameters are split into `Fragments`: every `Fragments`-th parameter of the program is in the same
/// fragment. Each fragment has a period of `Steps` steps, and these periods begin `Steps` / `Fragments` steps apart.
/// Therefore no step sends more than one fragment. `mt::compressed<mt::quantized<4>, mt::streaming_diloco<100, 4>>`
/// also sends outer gradients of 4 bits, as the paper does. Outer steps are taken at once, not some steps later.
///
/// layout  an all_reduce of one fragment in every step that ends its period, and nothing in the others
/// state   start and velocity, like each parameter
/// source  Douillard et al. 2025, arXiv:2501.18512, sections 2.2 (strided fragments) and 2.4
template <int Steps, int Fragments>
struct streaming_diloco : detail::outer_step<Steps> {
  static_assert(
      0 < Fragments && Fragments <= Steps,
      "meshtensor S23: streaming_diloco<steps, fragments> has at least one fragment, and at most one for each "
      "step");
  constexpr streaming_diloco() : detail::outer_step<Steps>(0.7, 0.9, true) {}

  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    int const steps = this->period;
    if (!r.scope.graph_builder().expect(steps >= Fragments,
                                        "S23 a period of streaming_diloco has at least one step for each fragment"))
      return;
    for (int fragment = 0; fragment < Fragments && fragment < r.size(); ++fragment) {
      int const offset = fragment * steps / Fragments;
      auto const place = [&](int step) { return full(r.scope, (r.round() + (steps - offset + step)) % steps, f64); };
      auto const is_first = full(r.scope, r.round(), f64);  // the first period of most fragments is shorter
      this->step(r, place(0) * is_first == 0, place(1) == 0, [&](int i) { return i % Fragments == fragment; });
    }
  }
};

}  // namespace meshtensor
