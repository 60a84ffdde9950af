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
  constexpr void keep_start(Replica const& r) const {
    each_fragment(r, [&](number const& place, auto const& is_in_fragment) {
      // The first period of most fragments is shorter.
      number const begins = minimum(r.place_in_training(), place + r.steps_since_turn());
      detail::period_start::keep(r, r.row(begins), true, is_in_fragment);
    });
  }
  template <class Replica>
  constexpr void after_update(Replica const& r) const {
    keep_start(r);
    each_fragment(r, [&](number const& place, auto const& is_in_fragment) {
      this->step(r, full(r.scope, place, f64) == this->period - 1, is_in_fragment);
    });
  }

 private:
  /// Calls `f` for each fragment with the place of the step in its period.
  template <class Replica, class F>
  constexpr void each_fragment(Replica const& r, F const& f) const {
    int const steps = this->period;
    if (!r.scope.graph_builder().expect(steps >= Fragments,
                                        "S23 a period of streaming_diloco has at least one step for each fragment"))
      return;
    for (int fragment = 0; fragment < Fragments && fragment < r.size(); ++fragment)
      f((r.round() + (steps - fragment * steps / Fragments)) % steps,
        [fragment](int i) { return i % Fragments == fragment; });
  }
};

}  // namespace meshtensor
