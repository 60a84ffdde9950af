// SPDX-License-Identifier: Apache-2.0
// Arithmetic on the values of a graph under construction: rules and passes add nodes with it.
#pragma once

#include "meshtensor/op/constant.hpp"

namespace meshtensor {

constexpr dtype result_type(function f, dtype operand) { return is_comparison(f) ? dtype::boolean : operand; }

constexpr id elementwise(builder& b, function f, id x) {
  value const v = b.m.values[x];
  return b.add(primitive::elementwise, static_cast<std::uint8_t>(f), ids(&x, 1), v.type, v.dims);
}
constexpr id elementwise(builder& b, function f, id x, id y) {
  value const v = b.m.values[x], w = b.m.values[y];
  b.expect(v.type == w.type, "T02 the dtypes of the operands differ: cast one of them");
  id const operands[] = {x, y};
  return b.add(primitive::elementwise, static_cast<std::uint8_t>(f), operands, result_type(f, v.type),
               united(v.dims, w.dims));
}
constexpr id select(builder& b, id condition, id yes, id no) {
  value const c = b.m.values[condition], v = b.m.values[yes], w = b.m.values[no];
  b.expect(c.type == dtype::boolean && v.type == w.type, "T02 select takes a bool and two operands of one dtype");
  id const operands[] = {condition, yes, no};
  return b.add(primitive::elementwise, static_cast<std::uint8_t>(function::select), operands, v.type,
               united(united(v.dims, w.dims), c.dims));
}
struct choice {
  id condition, yes, no;
};
constexpr id select(builder& b, choice c) { return select(b, c.condition, c.yes, c.no); }
constexpr id cast(builder& b, id x, dtype type) {
  value const v = b.m.values[x];
  if (v.type == type) return x;
  return b.add(primitive::elementwise, static_cast<std::uint8_t>(function::cast), ids(&x, 1), type, v.dims);
}
/// Two operands, evaluated in this order by every compiler: `multiply(b, {first(), second()})`. Rules run at compile
/// time and at start-up, and must make the same nodes in the same order.
struct in_order {
  id first, second;
};
constexpr id elementwise(builder& b, function f, in_order xs) { return elementwise(b, f, xs.first, xs.second); }

constexpr id add(builder& b, id x, id y) { return elementwise(b, function::add, x, y); }
constexpr id add(builder& b, in_order xs) { return elementwise(b, function::add, xs); }
constexpr id subtract(builder& b, id x, id y) { return elementwise(b, function::subtract, x, y); }
constexpr id subtract(builder& b, in_order xs) { return elementwise(b, function::subtract, xs); }
constexpr id multiply(builder& b, id x, id y) { return elementwise(b, function::multiply, x, y); }
constexpr id multiply(builder& b, in_order xs) { return elementwise(b, function::multiply, xs); }
constexpr id divide(builder& b, id x, id y) { return elementwise(b, function::divide, x, y); }
constexpr id divide(builder& b, in_order xs) { return elementwise(b, function::divide, xs); }
constexpr id negate(builder& b, id x) { return elementwise(b, function::negate, x); }
constexpr id scale(builder& b, id x, number const& n) { return multiply(b, x, constant(b, n, b.m.values[x].type)); }

/// The sum of `x` over all dims that `like` lacks, in the order of `like`: the gradient of a broadcast.
constexpr id sum_to(builder& b, id x, shape const& like) {
  shape const dims = b.m.values[x].dims, kept = without(dims, without(dims, like));
  dtype const type = b.m.values[x].type;
  if (kept.count != dims.count)
    x = b.add(primitive::reduce, static_cast<std::uint8_t>(reduction::sum), ids(&x, 1), type, kept);
  return kept == like ? x : b.add(primitive::transpose, {x}, type, like);
}

}  // namespace meshtensor
