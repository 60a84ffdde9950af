// SPDX-License-Identifier: Apache-2.0
// Emits conv in all directions, always as a convolution of [batch, window…, channels] with [window…, channels,
// channels].
#pragma once

#include "meshtensor/emit/stablehlo/product.hpp"
#include "meshtensor/emit/stablehlo/window.hpp"
#include "meshtensor/op/conv.hpp"

namespace meshtensor::hlo {

class convolution_writer {
 public:
  convolution_writer(emission& e, node const& n)
      : e_(e),
        n_(n),
        which_(conv_rule::direction(n)),
        x_(e.m.operand_value(n, 0)),
        y_(e.m.operand_value(n, 1)),
        to_(e.m.result_value(n)) {
    conv_attributes const a = conv_attributes::of(n);
    for (int k = a.first; k < a.first + a.count; ++k) {
      window_row const& row = e.m.windows[k];
      using role = conv_rule::role;
      role const of[] = {conv_rule::operand_role(which_, 0), conv_rule::operand_role(which_, 1),
                         conv_rule::result_role(which_)};
      in_x_.add(conv_rule::dim_of(row, of[0])), in_y_.add(conv_rule::dim_of(row, of[1]));
      in_to_.add(conv_rule::dim_of(row, of[2]));
      windows_.push_back(window_of(e, n, row));
    }
    sort_dims();
  }

  value written() {
    value x = operand(0), y = operand(1);
    std::vector<local_window> windows;
    for (std::size_t k = 0; k < windows_.size(); ++k) {
      window_place const at = place(k);
      windows.push_back(window_on_parts(e_, windows_[k], at));
      x = with_reached(e_, x, x_, x_.dims.find(in_x_.at[k]), windows_[k], at);
    }
    shape have_x = x_.dims, have_y = y_.dims;
    x = sum_unless_needed(e_, x, have_x, {batch_, in_x_, groups_, summed_});
    y = sum_unless_needed(e_, y, have_y, {in_y_, groups_, summed_, channels_});
    x = merged(x, have_x, {batch_, in_x_, united(groups_, summed_)});
    y = merged(y, have_y, {in_y_, summed_, united(groups_, channels_)});
    return apart(convolved(x, y, windows));
  }

 private:
  /// Sorts the dims along which no window moves by the tensors that have them.
  void sort_dims() {
    auto const unwindowed = [](shape const& all, shape const& windowed) { return without(all, windowed); };
    shape const x = unwindowed(x_.dims, in_x_), y = unwindowed(y_.dims, in_y_), to = unwindowed(to_.dims, in_to_);
    for (int i = 0; i < x.count; ++i) {
      int const d = x.at[i];
      if (to.has(d)) (y.has(d) ? groups_ : batch_).add(d);
      else if (y.has(d)) summed_.add(d);
    }
    for (int i = 0; i < y.count; ++i)
      if (!x.has(y.at[i]) && to.has(y.at[i])) channels_.add(y.at[i]);
  }
  /// The tensor whose parts decide which elements of operand 0 are needed.
  window_place place(std::size_t k) const {
    auto const i = static_cast<int>(k);
    bool const of_inputs = which_ != conv_direction::backward;
    if (which_ == conv_direction::kernel) return {y_, y_.dims.find(in_y_.at[i]), of_inputs};
    return {to_, to_.dims.find(in_to_.at[i]), of_inputs};
  }
  /// An operand in its own dtype, because compilers multiply bf16 exactly, sum it in f32 and round once.
  value operand(int i) { return e_.operand(n_, i); }
  /// `v` in this order of dims. The dims of windows stay separate, and the dims of each other list are merged into one.
  value merged(value const& v, shape const& have, std::initializer_list<shape> order) {
    shape all{};
    extents together;
    for (shape const& part : order) {
      all = united(all, part);
      extents const own = extents_of(part, have, v.type.shape);
      if (part == in_x_ || part == in_y_) together.insert(together.end(), own.begin(), own.end());
      else together.push_back(product(own));
    }
    value const laid = e_.laid(v, have, all, extents_of(all, have, v.type.shape));
    return e_.w.op("reshape", {laid}, {v.type.element, together});
  }
  value convolved(value x, value y, std::vector<local_window> const& windows) {
    std::size_t const count = windows.size();
    extents strides, dilated_x(count, 1), dilated_y, shape{x.type.shape[0]}, reversed;
    std::vector<extents> padding;
    std::string places;
    for (std::size_t k = 0; k < count; ++k) {
      local_window const& w = windows[k];
      std::int64_t const in = x.type.shape[k + 1], across = y.type.shape[k];
      std::int64_t const out = e_.result_type(n_).shape[static_cast<std::size_t>(to_.dims.find(in_to_.at[k]))];
      bool const back = which_ == conv_direction::backward, by_kernel = which_ == conv_direction::kernel;
      strides.push_back(back ? 1 : by_kernel ? w.dilation : w.stride);
      if (back) dilated_x[k] = w.stride, reversed.push_back(static_cast<std::int64_t>(k));
      dilated_y.push_back(by_kernel ? w.stride : w.dilation);
      std::int64_t const low = back ? w.span() - w.low : w.low;
      std::int64_t const reach = strides[k] * (out - 1) + dilated_y[k] * (across - 1) + 1;
      std::int64_t const high = reach - low - (dilated_x[k] * (in - 1) + 1);
      padding.push_back({low, high});
      places += std::to_string(k) + ", ";
      shape.push_back(out);
    }
    if (!reversed.empty()) y = e_.w.op("reverse", {y}, y.type, "dimensions = " + array_text(reversed));
    std::int64_t const groups = product(extents_of(groups_, x_.dims, e_.operand(n_).type.shape));
    shape.push_back(y.type.shape.back());
    bool const narrow = x.type.element == "bf16";
    std::string const precision = std::string("#stablehlo<precision ") + (narrow ? "DEFAULT>" : "HIGHEST>");
    return e_.w.op("convolution", {x, y}, {x.type.element, shape},
                   "window_strides = " + array_text(strides) + ", padding = " + rows_text(padding) +
                       ", lhs_dilation = " + array_text(dilated_x) + ", rhs_dilation = " + array_text(dilated_y) +
                       ", dimension_numbers = #stablehlo.conv<[b, " + places + "f]x[" + places + "i, o]->[b, " +
                       places + "f]>, feature_group_count = " + std::to_string(groups) +
                       " : i64, batch_group_count = 1 : i64, precision_config = [" + precision + ", " + precision +
                       "]");
  }
  /// The result with its own dims, in their order.
  value apart(value const& v) {
    type const t = e_.result_type(n_);
    shape order = united(united(batch_, in_to_), united(groups_, channels_));
    value const parts = e_.w.op("reshape", {v}, {v.type.element, extents_of(order, to_.dims, t.shape)});
    return convert(e_.w, e_.laid(parts, order, to_.dims, t.shape), t.element);
  }

  emission& e_;
  node const& n_;
  conv_direction which_;
  meshtensor::value const &x_, &y_, &to_;
  shape in_x_{}, in_y_{}, in_to_{};  // the dims of windows in each tensor
  shape batch_{}, groups_{}, summed_{}, channels_{};
  std::vector<window_numbers> windows_;
};

inline value conv(emission& e, node const& n) { return convolution_writer(e, n).written(); }

}  // namespace meshtensor::hlo
