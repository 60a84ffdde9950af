// SPDX-License-Identifier: Apache-2.0
// The elements of a dim that windows reach from each replica's part of another dim, not cut at the ends of the dim.
#pragma once

#include <optional>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/window.hpp"
#include "meshtensor/pass/bind/binding.hpp"

namespace meshtensor::hlo {

/// Part q reaches `length` elements from `first` + q · `step` on.
struct reached_range {
  std::int64_t first, step, length;

  static constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t by) { return n / by + (n % by > 0 ? 1 : 0); }

  /// The elements that windows reach from parts of `part` elements. It is empty if they are not alike for all parts.
  static std::optional<reached_range> of(window_numbers const& w, bool of_inputs, std::int64_t part) {
    std::int64_t const span = w.dilation * (w.size - 1);
    if (of_inputs) return reached_range{-w.low, w.stride * part, w.stride * (part - 1) + span + 1};
    if (part % w.stride != 0) return {};
    std::int64_t const first = rounded_up(w.low - span, w.stride);
    return reached_range{first, part / w.stride, rounded_up(part + w.low, w.stride) - first};
  }
  /// The elements that windows reach from the parts of a value's dim, if the dim has a halo. Otherwise it is empty.
  static std::optional<reached_range> of(module const& m, binding const& b, meshtensor::value const& v, int place) {
    binding::halo_row const& c = b.halo_of[v.dims.at[place]];
    std::int64_t const parts = c.whole == 0 ? 1 : parts_of(b, v.layout, place);
    if (parts == 1) return {};
    return required(m, c.parts - 1, of(c.reach, c.of_inputs, b.extent[c.parts - 1] / parts), c.reach.stride);
  }
  /// errors  S02 the windows' stride does not divide the parts of a dim
  static reached_range required(module const& m, int dim, std::optional<reached_range> const& r, std::int64_t stride) {
    if (r) return *r;
    throw error("S02", {"the parts of dim '", m.dim_name(dim), "' are no multiples of ", stride, ", the stride of ",
                        "windows that move along it, which StableHLO does not have: replicate it, or choose another ",
                        "extent"});
  }
  static std::int64_t parts_of(binding const& b, placement const& layout, int place) {
    std::int64_t parts = 1;
    for (int o = 0, a = 0; (a = layout.axis_at(place, o)) >= 0; ++o) parts *= b.axis[a];
    return parts;
  }
};

}  // namespace meshtensor::hlo
