// SPDX-License-Identifier: Apache-2.0
// A window over the part of a dim that a replica holds, for the emission of convolutions and pools.
#pragma once

#include "meshtensor/emit/stablehlo/halo.hpp"

namespace meshtensor::hlo {

/// Input i, output o and element w of a window meet if i = stride · o + dilation · w - low, where all indices are
/// local.
struct local_window {
  std::int64_t stride, dilation, size, low;

  std::int64_t span() const { return dilation * (size - 1); }
};

/// The place of a window along one dim: the tensor and dim whose parts decide which elements of an operand are needed.
struct window_place {
  meshtensor::value const& parts;
  int place_of_parts;
  bool of_inputs;  // the operand has the windows' inputs, and `parts` their outputs; or the reverse
};

/// An operand with the elements that windows reach along dim `k`. If it has a halo already, or if the dim is whole, it
/// is unchanged.
inline value with_reached(emission& e, value const& x, meshtensor::value const& v, int k, window_numbers const& w,
                          window_place const& at) {
  placement const& layout = at.parts.layout;
  bool const covers = e.b.halo_of[v.dims.at[k]].whole != 0;
  if (covers || reached_range::parts_of(e.b, layout, at.place_of_parts) == 1) return x;
  auto const r = reached_range::of(w, at.of_inputs, e.b.local(at.parts, at.place_of_parts));
  return reached_of_whole(e, x, k, reached_range::required(e.m, at.parts.dims.at[at.place_of_parts], r, w.stride),
                          layout, at.place_of_parts);
}
/// The window between the operand that `with_reached` gives and the parts.
inline local_window window_on_parts(emission const& e, window_numbers const& w, window_place const& at) {
  local_window l{w.stride, w.dilation, w.size, w.low};
  if (reached_range::parts_of(e.b, at.parts.layout, at.place_of_parts) == 1) return l;
  l.low = at.of_inputs ? 0 : w.low - w.stride * reached_range::rounded_up(w.low - l.span(), w.stride);
  return l;
}
inline window_numbers window_of(emission const& e, node const& n, window_row const& row) {
  auto const w = known_window(e.m, e.b, row);
  if (!w) e.refuse(n, "a window whose padding changes between steps");
  return *w;
}

}  // namespace meshtensor::hlo
