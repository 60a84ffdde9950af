// SPDX-License-Identifier: Apache-2.0
// The windows of a pool on a replica's part: the elements at one position of all windows, and the padding around them.
#pragma once

#include "meshtensor/emit/stablehlo/window.hpp"
#include "meshtensor/op/pool.hpp"

namespace meshtensor::hlo {

class pool_windows {
 public:
  pool_windows(emission& e, node const& n)
      : e_(e), n_(n), back_(pool_rule::leads_back(pool_rule::step_of(n))), to_(e.result_type(n)) {
    pool_attributes const a = pool_attributes::of(n);
    for (int k = a.first; k < a.first + a.count; ++k) {
      window_row const& row = e.m.windows[k];
      int const at = e.dims(n).find(back_ ? row.output : row.input);
      window_numbers const w = window_of(e, n, row);
      places_.push_back({at, w, window_on_parts(e, w, parts(at)), e.b.whole_extent(e.m.operand_value(n, 0).dims.at[at]),
                         e.b.whole_extent(e.m.result_value(n).dims.at[at])});
    }
  }

 protected:
  struct windowed_dim {
    int at;
    window_numbers numbers;
    local_window local;
    std::int64_t whole_from, whole_to;  // the extents in the operand and in the result, over all parts
  };

  window_place parts(int at) const { return {e_.m.result_value(n_), at, !back_}; }
  value reached(int operand) {
    value x = e_.operand(n_, operand);
    for (windowed_dim const& d : places_)
      x = with_reached(e_, x, e_.m.operand_value(n_, operand), d.at, d.numbers, parts(d.at));
    return x;
  }
  static auto at(int k) { return static_cast<std::size_t>(k); }

  /// Whether all dims along which windows move are whole.
  bool is_whole() const {
    return std::all_of(places_.begin(), places_.end(), [&](windowed_dim const& d) {
      return reached_range::parts_of(e_.b, e_.m.result_value(n_).layout, d.at) == 1;
    });
  }
  /// The number of elements of a window.
  std::int64_t elements() const { return pool_rule::elements(e_.m, pool_attributes::of(n_)); }
  /// The element at this position along each dim.
  extents element_at(std::int64_t position) const {
    extents r(places_.size());
    for (std::size_t k = places_.size(); k-- > 0;) {
      r[k] = position % places_[k].local.size;
      position /= places_[k].local.size;
    }
    return r;
  }

  /// The operand, padded so far that it contains every element of every window. The windows must lead forwards.
  value padded(value const& x) {
    extents low(x.type.shape.size()), high = low;
    for (windowed_dim const& d : places_) {
      std::size_t const i = at(d.at);
      std::int64_t const reach = d.local.stride * (to_.shape[i] - 1) + d.local.span() + 1;
      low[i] = d.local.low, high[i] = reach - low[i] - x.type.shape[i];
    }
    return pad(e_.w, x, low, high);
  }
  /// The elements of all windows at these positions.
  value taken(value const& wide_x, extents const& elements) {
    extents from(wide_x.type.shape.size()), to = wide_x.type.shape, steps(from.size(), 1);
    for (std::size_t k = 0; k < places_.size(); ++k) {
      local_window const& w = places_[k].local;
      std::size_t const i = at(places_[k].at);
      from[i] = w.dilation * elements[k], steps[i] = w.stride;
      to[i] = from[i] + w.stride * (to_.shape[i] - 1) + 1;
    }
    return slice(e_.w, wide_x, from, to, steps);
  }

  /// The sums or the greatest elements of all windows.
  value reduced(reduction kind, value const& x) {
    std::size_t const rank = to_.shape.size();
    extents size(rank, 1), strides = size, between = size, dilations = size;
    std::vector<extents> edges(rank, extents{0, 0});
    for (windowed_dim const& d : places_) {
      local_window const& w = d.local;
      std::size_t const i = at(d.at);
      size[i] = w.size, dilations[i] = w.dilation, (back_ ? between : strides)[i] = w.stride;
      std::int64_t const low = back_ ? w.span() - w.low : w.low;
      edges[i] = {low, strides[i] * (to_.shape[i] - 1) + w.span() - low - between[i] * (x.type.shape[i] - 1)};
    }
    std::string const& element = x.type.element;
    value const start = constant(e_.w, {element, {}}, identity(kind, element));
    return e_.w.op("reduce_window", {x, start}, {element, to_.shape},
                   "window_dimensions = " + array_text(size) + ", window_strides = " + array_text(strides) +
                       ", base_dilations = " + array_text(between) + ", window_dilations = " + array_text(dilations) +
                       ", padding = " + rows_text(edges),
                   combining(kind, element));
  }

  emission& e_;
  node const& n_;
  bool back_;
  type to_;
  std::vector<windowed_dim> places_;
};

}  // namespace meshtensor::hlo
