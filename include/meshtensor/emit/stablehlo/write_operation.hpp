// SPDX-License-Identifier: Apache-2.0
// Writes the operations that stand for nodes.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"

namespace meshtensor::hlo {

/// The median of the first, the middle and the last element along some dims. If it is not finite, it is 0.
inline value median_of_some(writer& w, value const& x, extents const& along) {
  extents kept;
  for (std::size_t i = 0; i < x.type.shape.size(); ++i)
    if (!has(along, i)) kept.push_back(x.type.shape[i]);
  auto const element = [&](std::int64_t which) {
    extents begin(x.type.shape.size(), 0), end = x.type.shape;
    for (std::int64_t d : along) {
      auto const at = static_cast<std::size_t>(d);
      begin[at] = which * (end[at] - 1) / 2, end[at] = begin[at] + 1;
    }
    return w.op("reshape", {slice(w, x, begin, end)}, {x.type.element, kept});
  };
  value const a = element(0), b = element(1), c = element(2), low = binary(w, "minimum", {a, b});
  value const median = binary(w, "maximum", {low, binary(w, "minimum", {binary(w, "maximum", {a, b}), c})});
  value const is_number = w.op("is_finite", {median}, {"i1", kept});
  return select(w, {is_number, median, like(w, median, 0)});
}

/// The sum in f64 of an f32 along some dims, in which at most `most_terms` elements are summed in f32 at a time.
inline value sum_in_parts(writer& w, value x, extents const& along) {
  constexpr std::int64_t most_terms = 1024;
  extents now;
  std::int64_t terms = 1;
  for (std::size_t i = along.size(); i-- > 0;) {
    std::int64_t const extent = x.type.shape[static_cast<std::size_t>(along[i])];
    if (terms * extent > most_terms) continue;
    terms *= extent;
    now.insert(now.begin(), along[i]);
  }
  if (std::int64_t const last = along.back(); now.empty()) {  // cuts the last dim by a power of 2 that divides it
    extents cut = x.type.shape;
    std::int64_t& extent = cut[static_cast<std::size_t>(last)];
    std::int64_t const part = std::min(extent & -extent, most_terms);
    extent /= part;
    cut.insert(cut.begin() + last + 1, part);
    x = w.op("reshape", {x}, {x.type.element, cut});
    now = {last + 1};
  }
  extents left;
  for (std::int64_t d : along) {
    if (has(now, static_cast<std::size_t>(d))) continue;
    left.push_back(d - std::count_if(now.begin(), now.end(), [d](std::int64_t gone) { return gone < d; }));
  }
  return reduce(w, reduction::sum, convert(w, reduce(w, reduction::sum, x, now), "f64"), left);
}

inline value write_operation(emission& e, operation const& o) {
  shape const &x_dims = e.rewritten.dims(o.x), &y_dims = e.rewritten.dims(o.y), &dims = e.rewritten.dims(o.result);
  std::string const element = hlo::text_of(e.rewritten.type(o.result));
  value const x = e.at(o.x);
  switch (o.kind) {
    case op::add:
    case op::subtract:
    case op::multiply:
    case op::divide: {
      value const y = e.at(o.y);
      extents shape = x.type.shape;  // the dims of x come first
      for (int i = x_dims.count; i < dims.count; ++i)
        shape.push_back(y.type.shape[static_cast<std::size_t>(y_dims.find(dims.at[i]))]);
      value const a = e.laid(x, x_dims, dims, shape), b = e.laid(y, y_dims, dims, shape);
      return binary(e.w, text_of(o.kind), {a, b});
    }
    case op::convert: return convert(e.w, x, element);
    case op::lay_out: return e.laid(x, x_dims, dims, e.type_of(static_cast<value_id>(o.y)).shape);
    case op::sum: return reduce(e.w, reduction::sum, x, lost(x_dims, dims));
    case op::sum_in_parts: return sum_in_parts(e.w, x, lost(x_dims, dims));
    case op::median_of_some: return median_of_some(e.w, x, lost(x_dims, dims));
    case op::times_terms: {
      extents const terms = extents_of(without(y_dims, x_dims), y_dims, e.at(o.y).type.shape);
      return scaled(e.w, x, product(terms));
    }
    case op::varies: return convert(e.w, compare(e.w, "GT", {x, like(e.w, x, 0x1p-42)}), element);
  }
  return x;
}

inline void emission::write(std::vector<operation> const& all) {
  for (operation const& o : all) values_[static_cast<std::size_t>(o.result)] = write_operation(*this, o);
}

}  // namespace meshtensor::hlo
