// SPDX-License-Identifier: Apache-2.0
// Writes a sum of tensors that are shifted and multiplied by tensors of fewer dims. It needs few operations on all
// dims.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

/// Operations on tensors that have some of the dims of one value.
class small_values {
 public:
  small_values(emission& e, meshtensor::value const& whole, extents const& shape)
      : e_(e), whole_(whole), shape_(shape) {}

  bool are_small(shape const& a, shape const& b) const { return united(a, b).count < whole_.dims.count; }
  small_value binary(char const* name, small_value const& x, small_value const& y) {
    shape const dims = united(x.dims, y.dims);
    extents of_dims;
    for (int i = 0; i < dims.count; ++i)
      of_dims.push_back(shape_[static_cast<std::size_t>(whole_.dims.find(dims.at[i]))]);
    value const a = e_.laid(x.what, x.dims, dims, of_dims), b = e_.laid(y.what, y.dims, dims, of_dims);
    return {hlo::binary(e_.w, name, {a, b}), dims};
  }
  /// The factor of (x - centre), or 0 where all x equal the centre, because multiplying the centre separately loses
  /// most digits there. If bf16 values differ, their variance is at least 2⁻¹⁶ centre², divided by the number of
  /// elements.
  small_value without_constants(small_value const& factor, small_value const& centre, value_id variance) {
    if (variance == id{no_id} || !e_.has(variance)) return factor;
    std::string const& element = centre.what.type.element;
    small_value const spread_of_x{convert(e_.w, e_.at(variance), element), e_.m.values[variance].dims};
    small_value const share = binary("divide", binary("divide", spread_of_x, centre), centre);
    value const differs = compare(e_.w, "GT", {share.what, like(e_.w, share.what, 0x1p-42)});
    return binary("multiply", factor, {convert(e_.w, differs, element), share.dims});
  }
  value broadcast(small_value const& x) { return e_.laid(x.what, x.dims, whole_.dims, shape_); }

 private:
  emission& e_;
  meshtensor::value const& whole_;
  extents shape_;
};

/// Adds a tensor of fewer dims to the rest of a form.
inline void add_rest(small_values& small, linear_form& f, small_value const& x, bool subtracted) {
  if (!f.rest) {
    f.rest = x, f.rest_is_subtracted = subtracted;
  } else if (f.rest_is_subtracted == subtracted) {
    f.rest = small.binary("add", *f.rest, x);
  } else {
    f.rest = subtracted ? small.binary("subtract", *f.rest, x) : small.binary("subtract", x, *f.rest);
    f.rest_is_subtracted = false;
  }
}

/// Whether a term (x - centre) * factor of a sum with `rest` can be written as x * factor. The product of few dims,
/// centre * factor, then joins `rest`.
inline bool joins(linear_form const& f, linear_term const& t, small_values const& small) {
  if (!t.centre || !t.is_narrow) return false;
  shape const dims = t.factor ? united(t.centre->dims, t.factor->dims) : t.centre->dims;
  return small.are_small(dims, f.rest ? f.rest->dims : shape{});
}
/// Writes (x - centre) * factor + rest as x * factor + (rest - centre * factor), if that saves a difference of all
/// dims.
inline void join_centres(small_values& small, linear_form& f) {
  int narrow = 0;
  for (linear_term const& t : f.terms) narrow += joins(f, t, small) ? 1 : 0;
  if (narrow < (f.rest ? 1 : 2)) return;
  for (linear_term& t : f.terms) {
    if (!joins(f, t, small)) continue;
    if (t.factor) t.factor = small.without_constants(*t.factor, *t.centre, t.variance);
    add_rest(small, f, t.factor ? small.binary("multiply", *t.centre, *t.factor) : *t.centre, !t.is_subtracted);
    t.centre.reset();
  }
}

/// The value of a form, whose tensors have the dims of `v` in their order.
inline value emission::written(linear_form const& form, meshtensor::value const& v) {
  linear_form f = form;
  small_values small(*this, v, f.terms.front().whole.type.shape);
  join_centres(small, f);
  std::optional<value> sum;
  auto const add = [&](value const& y, bool is_subtracted) {
    sum = sum ? binary(w, is_subtracted ? "subtract" : "add", {*sum, y}) : y;
  };
  for (linear_term const& x : f.terms) {
    value y = x.whole;
    if (x.centre) y = binary(w, "subtract", {y, small.broadcast(*x.centre)});
    if (x.factor) y = binary(w, "multiply", {y, small.broadcast(*x.factor)});
    add(y, x.is_subtracted);
  }
  if (f.rest) add(small.broadcast(*f.rest), f.rest_is_subtracted);
  return *sum;
}

}  // namespace meshtensor::hlo
