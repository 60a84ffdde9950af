// SPDX-License-Identifier: Apache-2.0
// StableHLO operations as functions on values, with their result types computed.
#pragma once

#include <algorithm>
#include <limits>

#include "meshtensor/emit/stablehlo/text.hpp"

namespace meshtensor::hlo {

inline bool has(extents const& places, std::size_t i) {
  return std::find(places.begin(), places.end(), static_cast<std::int64_t>(i)) != places.end();
}

inline std::int64_t product(extents const& all) {
  std::int64_t n = 1;
  for (std::int64_t const k : all) n *= k;
  return n;
}

/// Operands in braces. Braces fix the order of evaluation, so that every compiler writes the same text.
struct two {
  value x, y;
};
struct choice {
  value condition, yes, no;
};

inline value unary(writer& w, char const* name, value const& x) { return w.op(name, {x}, x.type); }
inline value binary(writer& w, char const* name, two const& v) { return w.op(name, {v.x, v.y}, v.x.type); }

/// A constant: the same number in every element.
inline value constant(writer& w, type const& t, std::string const& spelled) {
  return w.op("constant", {}, t, "value = dense<" + spelled + "> : " + t.text());
}
inline value constant(writer& w, type const& t, number_value const& number) {
  return constant(w, t, literal(t.element, number));
}
inline value like(writer& w, value const& x, number_value const& number) { return constant(w, x.type, number); }

inline value scaled(writer& w, value const& x, number_value const& by) {
  return binary(w, "multiply", {x, like(w, x, by)});
}

inline value convert(writer& w, value const& x, std::string const& element) {
  if (x.type.element == element) return x;
  value r = w.op("convert", {x}, {element, x.type.shape});
  if (element == "bf16" && x.type.element == "f32") r.narrowed_from = x.name;
  return r;
}
/// A bf16 as f32, for comparisons. Otherwise, compilers for devices without arithmetic in bf16 would convert both
/// sides, even if one is a constant.
inline value widened(writer& w, value const& x) { return x.type.element == "bf16" ? convert(w, x, "f32") : x; }
/// `direction` is EQ, NE, LT, LE, GT or GE.
inline value compare(writer& w, char const* direction, two const& v) {
  return w.op("compare", {v.x, v.y}, {"i1", v.x.type.shape},
              std::string("comparison_direction = #stablehlo<comparison_direction ") + direction + ">");
}
inline value select(writer& w, choice const& c) { return w.op("select", {c.condition, c.yes, c.no}, c.yes.type); }

/// Dim i of the result is dim `from[i]` of the operand.
inline value transpose(writer& w, value const& x, extents const& from) {
  if (std::is_sorted(from.begin(), from.end())) return x;
  extents shape;
  for (std::int64_t k : from) shape.push_back(x.type.shape[static_cast<std::size_t>(k)]);
  return w.op("transpose", {x}, {x.type.element, shape}, "permutation = " + array_text(from));
}
/// Dim i of the operand becomes dim `to[i]` of the result, in any order. The result is broadcast along its other dims.
inline value spread(writer& w, value x, extents to, extents const& shape) {
  extents order(to.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return to[static_cast<std::size_t>(a)] < to[static_cast<std::size_t>(b)];
  });
  x = transpose(w, x, order);
  if (to.size() == shape.size()) return x;
  std::sort(to.begin(), to.end());
  return w.op("broadcast_in_dim", {x}, {x.type.element, shape}, "broadcast_dimensions = " + array_text(to));
}
/// The elements from `begin` to before `end` along each dim, or each `steps`-th of them.
inline value slice(writer& w, value const& x, extents const& begin, extents const& end, extents steps = {}) {
  steps.resize(begin.size(), 1);
  type t = x.type;
  for (std::size_t i = 0; i < begin.size(); ++i) t.shape[i] = (end[i] - begin[i] + steps[i] - 1) / steps[i];
  return w.op("slice", {x}, t,
              "start_indices = " + array_text(begin) + ", limit_indices = " + array_text(end) +
                  ", strides = " + array_text(steps));
}
/// The elements with the scalar `around` at both ends of each dim, and perhaps between two elements.
inline value pad(writer& w, value const& x, value const& around, extents const& low, extents const& high,
                 extents between = {}) {
  between.resize(low.size());
  type t = x.type;
  for (std::size_t i = 0; i < low.size(); ++i) t.shape[i] += low[i] + high[i] + (t.shape[i] - 1) * between[i];
  return w.op("pad", {x, around}, t,
              "edge_padding_low = " + array_text(low) + ", edge_padding_high = " + array_text(high) +
                  ", interior_padding = " + array_text(between));
}
/// As above, with zeros.
inline value pad(writer& w, value const& x, extents const& low, extents const& high) {
  return pad(w, x, constant(w, {x.type.element, {}}, 0.0), low, high);
}
inline value concatenate(writer& w, std::vector<value> const& parts, std::size_t along) {
  type t = parts[0].type;
  for (std::size_t i = 1; i < parts.size(); ++i) t.shape[along] += parts[i].type.shape[along];
  return w.op("concatenate", parts, t, "dimension = " + std::to_string(along) + " : i64");
}
inline value iota(writer& w, type const& t, int along) {
  return w.op("iota", {}, t, "iota_dimension = " + std::to_string(along) + " : i64");
}

/// The region of a reduction, which combines two elements.
inline std::string combining(reduction kind, std::string const& element) {
  constexpr char const* names[] = {"", "add", "maximum", "minimum"};
  std::string const t = type{element, {}}.text();
  return "{ ^bb0(%a: " + t + ", %b: " + t + "): %c = \"stablehlo." + names[static_cast<int>(kind)] + "\"(%a, %b) : (" +
         t + ", " + t + ") -> " + t + " \"stablehlo.return\"(%c) : (" + t + ") -> () }";
}
/// The initial value of a reduction, as text.
inline std::string identity(reduction kind, std::string const& element) {
  if (kind == reduction::sum) return literal(element, 0);
  bool const least = kind == reduction::max;
  auto const of = [&]<class T>(T) {
    return std::to_string(least ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max());
  };
  if (element == "i1") return least ? "false" : "true";
  if (element == "ui8") return of(std::uint8_t{});
  if (element == "i32") return of(std::int32_t{});
  if (element == "i64") return of(std::int64_t{});
  double const infinity = std::numeric_limits<double>::infinity();
  return literal(element, least ? -infinity : infinity);
}
inline value reduce(writer& w, reduction kind, value x, extents const& along) {
  if (along.empty()) return x;
  std::string const element = x.type.element;
  bool const wider = kind == reduction::sum && element == "bf16";  // bf16 is summed in f32
  if (wider) x = convert(w, x, "f32");
  extents shape;
  for (std::size_t i = 0; i < x.type.shape.size(); ++i)
    if (!has(along, i)) shape.push_back(x.type.shape[i]);
  value const start = constant(w, {x.type.element, {}}, identity(kind, x.type.element));
  return convert(w,
                 w.op("reduce", {x, start}, {x.type.element, shape}, "dimensions = " + array_text(along),
                      combining(kind, x.type.element)),
                 element);
}

/// A scalar broadcast to `shape`.
inline value fill(writer& w, value const& scalar, extents const& shape) { return spread(w, scalar, {}, shape); }

/// The slice of `x` with these extents that begins at the indices `first`, scalars of one dtype.
inline value part(writer& w, value const& x, std::span<value const> first, extents const& shape) {
  std::vector<value> operands{x};
  operands.insert(operands.end(), first.begin(), first.end());
  return w.op("dynamic_slice", operands, {x.type.element, shape}, "slice_sizes = " + array_text(shape));
}

/// The product of `x` and `y`, summed over pairs of dims, with the `kept` pairs as batch dims. The result has the batch
/// dims, then the other dims of `x`, then those of `y`. f32 is multiplied as f32. bf16 is summed and returned in f32.
inline value dot(writer& w, value const& x, value const& y, extents const (&kept)[2], extents const (&summed)[2]) {
  extents shape;
  for (std::int64_t k : kept[0]) shape.push_back(x.type.shape[static_cast<std::size_t>(k)]);
  for (int side = 0; side < 2; ++side) {
    extents const& all = (side == 0 ? x : y).type.shape;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!has(kept[side], i) && !has(summed[side], i)) shape.push_back(all[i]);
  }
  bool const narrow = x.type.element == "bf16";
  std::string const precision = std::string("#stablehlo<precision ") + (narrow ? "DEFAULT>" : "HIGHEST>");
  return w.op("dot_general", {x, y}, {narrow ? "f32" : x.type.element, shape},
              "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [" + list_text(kept[0]) +
                  "], rhs_batching_dimensions = [" + list_text(kept[1]) + "], lhs_contracting_dimensions = [" +
                  list_text(summed[0]) + "], rhs_contracting_dimensions = [" + list_text(summed[1]) +
                  "]>, precision_config = [" + precision + ", " + precision + "]");
}

}  // namespace meshtensor::hlo
