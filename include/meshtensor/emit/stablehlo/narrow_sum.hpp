// SPDX-License-Identifier: Apache-2.0
// Emits sums in f64 for devices that only emulate f64. Few elements at a time are summed in f32, and the partial sums
// in f64.
#pragma once

#include <optional>

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

/// The sum in f64 of widened f32 or bf16 values, or of products of two of them. If a mean is far from zero, a sum in
/// f32 loses digits, for example in the difference of a mean of squares and the square of a mean. Therefore an element
/// k is subtracted before, and its part is added in f64: sum of x = sum of (x - k) + n k. The element is the median of
/// three elements, because digits are also lost if k is further from the mean than most elements.
class narrow_sum {
 public:
  narrow_sum(emission& e, node const& n)
      : e_(e), w_(e.w), n_(n), shape_(e.type_of(e.m.operand(n, 0)).shape), along_(lost(e.dims(n), e.result_dims(n))) {}

  /// Emits the sum. The result is empty if the elements are not widened.
  std::optional<value> emit() {
    value_id const v = e_.m.operand(n_, 0);
    node const& product = maker(v);
    if (is_widened(v)) {
      emission::deviations const x = deviations_of(v);
      return binary(w_, "add", {x.sum, all_of(x.first)});
    }
    if (!applies(product, function::multiply)) return {};
    value_id const a = e_.m.operand(product, 0), b = e_.m.operand(product, 1);
    if (!is_widened(a) || !is_widened(b)) return {};
    // sum of x y = sum of (x - k)(y - l) + k sum of (y - l) + l (sum of (x - k) + n k)
    emission::deviations const x = deviations_of(a), y = deviations_of(b);
    value const rest = binary(w_, "add", {x.sum, all_of(x.first)});
    value const own = sum(binary(w_, "multiply", {x.values, y.values}));
    value const shifted = binary(w_, "multiply", {x.first, y.sum});
    return binary(w_, "add", {binary(w_, "add", {own, shifted}), binary(w_, "multiply", {y.first, rest})});
  }

 private:
  static constexpr std::int64_t most_terms = 1024;  // of a sum in f32

  node const& maker(value_id v) const { return e_.m.nodes[e_.m.values[v].node]; }
  bool is_widened(value_id v) const {
    node const& n = maker(v);
    if (!applies(n, function::cast)) return false;
    dtype const from = e_.m.operand_value(n, 0).type;
    return from == dtype::f32 || from == dtype::bf16;
  }
  /// n times each element, for sums of n terms.
  value all_of(value const& first) {
    double count = 1;
    for (std::int64_t d : along_) count *= static_cast<double>(shape_[static_cast<std::size_t>(d)]);
    return scaled(w_, first, count);
  }

  /// The deviations of an operand. All its sums in this region share them, so that their roundings cancel.
  emission::deviations deviations_of(value_id widened) {
    value_id const v = e_.m.operand(maker(widened), 0);
    for (emission::deviations const& known : e_.known_deviations)
      if (known.of == v && known.region == n_.region && known.dims == e_.dims(n_) && known.along == along_)
        return known;
    value const x = e_.laid(convert(w_, e_.at(v), "f32"), e_.m.values[v].dims, e_.dims(n_), shape_);
    extents kept, places;
    for (std::size_t i = 0; i < shape_.size(); ++i)
      if (!has(along_, i)) kept.push_back(shape_[i]), places.push_back(static_cast<std::int64_t>(i));
    value const a = element(x, kept, 0), b = element(x, kept, 1), c = element(x, kept, 2);
    value first = binary(w_, "maximum",
                         {binary(w_, "minimum", {a, b}), binary(w_, "minimum", {binary(w_, "maximum", {a, b}), c})});
    value const is_number = w_.op("is_finite", {first}, {"i1", kept});
    first = select(w_, {is_number, first, like(w_, first, 0)});
    value const values = binary(w_, "subtract", {x, spread(w_, first, places, shape_)});
    value const total = sum(values);
    return e_.known_deviations.emplace_back(v, n_.region, e_.dims(n_), along_, values, convert(w_, first, "f64"),
                                            total);
  }

  /// The first element of each sum, an element in the middle, or the last one, for `which` 0, 1 or 2.
  value element(value const& x, extents const& kept, std::int64_t which) {
    extents begin(shape_.size(), 0), end = shape_;
    for (std::int64_t d : along_) {
      auto const at = static_cast<std::size_t>(d);
      begin[at] = which * (shape_[at] - 1) / 2, end[at] = begin[at] + 1;
    }
    extents one = shape_;
    for (std::int64_t d : along_) one[static_cast<std::size_t>(d)] = 1;
    value const there = w_.op("slice", {x}, {"f32", one},
                              "start_indices = " + array_text(begin) + ", limit_indices = " + array_text(end) +
                                  ", strides = " + array_text(extents(shape_.size(), 1)));
    return w_.op("reshape", {there}, {"f32", kept});
  }
  /// The sum along all dims, in which at most `most_terms` elements are summed in f32 at a time.
  value sum(value x) {
    extents along = along_, now;
    std::int64_t terms = 1;
    for (std::size_t i = along.size(); i-- > 0;) {
      std::int64_t const extent = x.type.shape[static_cast<std::size_t>(along[i])];
      if (terms * extent > most_terms) continue;
      terms *= extent;
      now.insert(now.begin(), along[i]);
    }
    if (std::int64_t const last = along.back(); now.empty()) {  // cuts the last dim by a power of 2 that divides it
      std::int64_t& extent = x.type.shape[static_cast<std::size_t>(last)];
      std::int64_t const part = std::min(extent & -extent, most_terms);
      extents cut = x.type.shape;
      cut[static_cast<std::size_t>(last)] = extent / part;
      cut.insert(cut.begin() + last + 1, part);
      x = w_.op("reshape", {x}, {"f32", cut});
      now = {last + 1};
    }
    extents left;
    for (std::int64_t d : along) {
      if (has(now, static_cast<std::size_t>(d))) continue;
      left.push_back(d - std::count_if(now.begin(), now.end(), [d](std::int64_t gone) { return gone < d; }));
    }
    return reduce(w_, reduction::sum, convert(w_, reduce(w_, reduction::sum, x, now), "f64"), left);
  }

  emission& e_;
  writer& w_;
  node const& n_;
  extents const shape_, along_;
};

}  // namespace meshtensor::hlo
