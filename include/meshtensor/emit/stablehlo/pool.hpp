// SPDX-License-Identifier: Apache-2.0
// Emits pools: sums as a reduce_window, steps by positions as one selection for each element of a window.
#pragma once

#include "meshtensor/emit/stablehlo/window.hpp"
#include "meshtensor/op/pool.hpp"

namespace meshtensor::hlo {

class pool_writer {
 public:
  pool_writer(emission& e, node const& n)
      : e_(e), n_(n), step_(pool_rule::step_of(n)), back_(pool_rule::leads_back(step_)), to_(e.result_type(n)) {
    pool_attributes const a = pool_attributes::of(n);
    for (int k = a.first; k < a.first + a.count; ++k) {
      window_row const& row = e.m.windows[k];
      int const at = e.dims(n).find(back_ ? row.output : row.input);
      window_numbers const w = window_of(e, n, row);
      places_.push_back({at, w, window_on_parts(e, w, parts(at))});
      whole_.push_back(e.b.whole_extent(e.m.operand_value(n, 0).dims.at[at]));
    }
  }

  value written() {
    value const x = reached(0);
    switch (step_) {
      case pool_step::sum:
      case pool_step::spread: return convert(e_.w, sums(wide(x)), to_.element);
      case pool_step::position: return position(x);
      case pool_step::pick: return pick(x);
      case pool_step::unpool: return convert(e_.w, unpool(wide(x), reached(1)), to_.element);
    }
    return x;
  }

 private:
  struct windowed_dim {
    int at;
    window_numbers numbers;
    local_window local;
  };

  window_place parts(int at) const { return {e_.m.result_value(n_), at, !back_}; }
  value wide(value const& x) { return x.type.element == "bf16" ? convert(e_.w, x, "f32") : x; }  // as it is summed
  value reached(int operand) {
    value x = e_.operand(n_, operand);
    for (windowed_dim const& d : places_)
      x = with_reached(e_, x, e_.m.operand_value(n_, operand), d.at, d.numbers, parts(d.at));
    return x;
  }
  static auto at(int k) { return static_cast<std::size_t>(k); }

  value sums(value const& x) {
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
    std::string padding;
    for (extents const& edge : edges) padding += (padding.empty() ? "[" : ", [") + list_text(edge) + "]";
    return e_.w.op("reduce_window", {x, constant(e_.w, {x.type.element, {}}, 0.0)}, {x.type.element, to_.shape},
                   "window_dimensions = " + array_text(size) + ", window_strides = " + array_text(strides) +
                       ", base_dilations = " + array_text(between) + ", window_dilations = " + array_text(dilations) +
                       ", padding = dense<[" + padding + "]> : tensor<" + std::to_string(rank) + "x2xi64>",
                   combining(reduction::sum, x.type.element));
  }

  /// Calls `use(position, elements)` for each position in the windows, in order: the element of each window there.
  template <class Use>
  void each_position(Use const& use) const {
    extents elements(places_.size());
    for (std::int64_t position = 0; position < pool_rule::elements(e_.m, pool_attributes::of(n_)); ++position) {
      std::int64_t rest = position;
      for (std::size_t k = places_.size(); k-- > 0;) {
        elements[k] = rest % places_[k].local.size;
        rest /= places_[k].local.size;
      }
      use(position, elements);
    }
  }

  /// Of windows that lead forwards, the operand padded so far that every element of every window is in it.
  value padded(value const& x) {
    extents low(x.type.shape.size()), high = low;
    type t = x.type;
    for (windowed_dim const& d : places_) {
      std::size_t const i = at(d.at);
      std::int64_t const reach = d.local.stride * (to_.shape[i] - 1) + d.local.span() + 1;
      low[i] = d.local.low, high[i] = reach - low[i] - t.shape[i], t.shape[i] = reach;
    }
    return with_edges(x, low, high, extents(low.size()), t);
  }
  value with_edges(value const& x, extents const& low, extents const& high, extents const& inside, type const& t) {
    return e_.w.op("pad", {x, constant(e_.w, {x.type.element, {}}, 0.0)}, t,
                   "edge_padding_low = " + array_text(low) + ", edge_padding_high = " + array_text(high) +
                       ", interior_padding = " + array_text(inside));
  }
  /// These elements of all windows.
  value taken(value const& wide_x, extents const& elements) {
    extents from(wide_x.type.shape.size()), to = wide_x.type.shape, steps(from.size(), 1);
    for (std::size_t k = 0; k < places_.size(); ++k) {
      local_window const& w = places_[k].local;
      std::size_t const i = at(places_[k].at);
      from[i] = w.dilation * elements[k], steps[i] = w.stride;
      to[i] = from[i] + w.stride * (to_.shape[i] - 1) + 1;
    }
    return e_.w.op("slice", {wide_x}, {wide_x.type.element, to_.shape},
                   "start_indices = " + array_text(from) + ", limit_indices = " + array_text(to) +
                       ", strides = " + array_text(steps));
  }

  value position(value const& x) {
    value const all = padded(x);
    value found{}, best{};
    each_position([&](std::int64_t position, extents const& elements) {
      value const element = taken(all, elements);
      value const here = constant(e_.w, to_, static_cast<double>(position));
      value takes = is_inside(elements);
      if (position == 0) {
        best = element;
        found = select(e_.w, {takes, here, constant(e_.w, to_, pool_rule::nowhere)});
        return;
      }
      value const nothing = compare(e_.w, "EQ", {found, constant(e_.w, to_, pool_rule::nowhere)});
      takes = binary(e_.w, "and", {takes, binary(e_.w, "or", {nothing, is_greater(element, best)})});
      best = select(e_.w, {takes, element, best});
      found = select(e_.w, {takes, here, found});
    });
    return found;
  }
  /// nan is greater than any number.
  value is_greater(value const& x, value const& y) {
    value const greater = compare(e_.w, "LT", {y, x});
    if (!meshtensor::is_float(e_.m.operand_value(n_, 0).type)) return greater;
    value const is_last = binary(e_.w, "and", {compare(e_.w, "NE", {x, x}), compare(e_.w, "EQ", {y, y})});
    return binary(e_.w, "or", {greater, is_last});
  }
  /// Whether these elements of the windows are elements of the tensor, not of its padding.
  value is_inside(extents const& elements) {
    std::optional<value> all;
    for (std::size_t k = 0; k < places_.size(); ++k) {
      window_numbers const& w = places_[k].numbers;
      int const i = places_[k].at;
      value const place = e_.positions(e_.m.result_value(n_), i, {"i64", {to_.shape[at(i)]}}, 0);
      value const element = binary(e_.w, "add",
                                   {scaled(e_.w, place, static_cast<double>(w.stride)),
                                    like(e_.w, place, static_cast<double>(w.input(0, elements[k])))});
      value const begins = compare(e_.w, "LE", {like(e_.w, place, 0), element});
      value const ends = compare(e_.w, "LT", {element, like(e_.w, place, static_cast<double>(whole_[k]))});
      value const inside = spread(e_.w, binary(e_.w, "and", {begins, ends}), {i}, to_.shape);
      all = all ? binary(e_.w, "and", {*all, inside}) : inside;
    }
    return *all;
  }

  value pick(value const& x) {
    value const all = padded(x), &positions = e_.operand(n_, 1);
    value y = constant(e_.w, to_, 0.0);
    each_position([&](std::int64_t position, extents const& elements) {
      value const is_here = compare(e_.w, "EQ", {positions, like(e_.w, positions, static_cast<double>(position))});
      y = select(e_.w, {is_here, taken(all, elements), y});
    });
    return y;
  }

  value unpool(value const& x, value const& positions) {
    value const none = constant(e_.w, x.type, 0.0);
    std::optional<value> sum;
    each_position([&](std::int64_t position, extents const& elements) {
      value const is_here = compare(e_.w, "EQ", {positions, like(e_.w, positions, static_cast<double>(position))});
      extents low(x.type.shape.size()), high = low, inside = low;
      for (std::size_t k = 0; k < places_.size(); ++k) {
        local_window const& w = places_[k].local;
        std::size_t const i = at(places_[k].at);
        low[i] = w.dilation * elements[k] - w.low, inside[i] = w.stride - 1;
        high[i] = to_.shape[i] - low[i] - w.stride * (x.type.shape[i] - 1) - 1;
      }
      value const term = with_edges(select(e_.w, {is_here, x, none}), low, high, inside, {x.type.element, to_.shape});
      sum = sum ? binary(e_.w, "add", {*sum, term}) : term;
    });
    return *sum;
  }

  emission& e_;
  node const& n_;
  pool_step step_;
  bool back_;
  type to_;
  std::vector<windowed_dim> places_;
  extents whole_;
};

inline value pool(emission& e, node const& n) { return pool_writer(e, n).written(); }

}  // namespace meshtensor::hlo
