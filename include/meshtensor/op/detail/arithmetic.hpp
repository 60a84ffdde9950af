// SPDX-License-Identifier: Apache-2.0
// Arithmetic on the values of a graph under construction: rules and passes add nodes with it.
#pragma once

#include "meshtensor/op/constant.hpp"

namespace meshtensor {

/// Returns null if a function takes operands of a dtype, or else the sentence that says why not.
constexpr char const* refusal_of(function f, dtype type) {
  if (is_logical(f) && type != dtype::boolean) return "T04 and, or and not take bool tensors: compare first";
  if (!is_float(type) && takes_only_floats(f)) return "T04 this function takes tensors of floats: cast the operand";
  bool const takes_bools = f == function::copy || f == function::stop_gradient || f == function::cast ||
                           f == function::select || is_comparison(f) || is_logical(f);
  return type != dtype::boolean || takes_bools ? nullptr : "T04 arithmetic on bool: cast the operand";
}

/// The declaration of elementwise nodes, and the dtype and dims of their results. Their other rules:
/// op/elementwise.hpp.
struct elementwise_inference {
  static constexpr primitive kind = primitive::elementwise;
  static constexpr declaration declares{.operands = {1, 3},
                                        .attributes = {{attribute_kind::flag}},  // see mark_as_mask_of_indices
                                        .functions = static_cast<std::uint8_t>(function::count_),
                                        .fusion = fusion_role::function,
                                        .work = work_kind::function};
  static constexpr void infer(inference& i) {
    auto const f = static_cast<function>(i.function);
    if (!i.expect(i.count == arity(f), "T41 a function takes another number of operands")) return;
    bool const selects = f == function::select;
    if (selects) i.expect(i.has_type(0, dtype::boolean), "T02 select: the condition is not a bool tensor", 1);
    int const first = selects ? 1 : 0, last = i.count - 1;
    dtype const type = i[first].type;
    i.expect(type == i[last].type, "T02 the dtypes of the operands differ: cast one of them", 1u << first | 1u << last);
    if (char const* why = refusal_of(f, type)) i.expect(false, why, 1u << first | 1u << last);
    shape dims = i.dims_of(first);
    if (first != last) dims = united(dims, i.dims_of(last));
    if (selects) dims = united(dims, i.dims_of(0));  // the dims of a condition come last
    i.give(f == function::cast ? i.type : is_comparison(f) ? dtype::boolean : type, dims);
  }
};

constexpr value_id elementwise(builder& b, function f, ids operands, dtype type = dtype::f32) {
  return add_node<elementwise_inference>(b, operands, {}, {type}, static_cast<std::uint8_t>(f));
}
constexpr value_id elementwise(builder& b, function f, value_id x) { return elementwise(b, f, ids(&x, 1)); }
constexpr value_id elementwise(builder& b, function f, value_id x, value_id y) {
  value_id const operands[] = {x, y};
  return elementwise(b, f, operands);
}
constexpr value_id select(builder& b, value_id condition, value_id yes, value_id no) {
  value_id const operands[] = {condition, yes, no};
  return elementwise(b, function::select, operands);
}
struct choice {
  value_id condition, yes, no;
};
constexpr value_id select(builder& b, choice c) { return select(b, c.condition, c.yes, c.no); }
constexpr value_id cast(builder& b, value_id x, dtype type) {
  return b.m.values[x].type == type ? x : elementwise(b, function::cast, ids(&x, 1), type);
}
/// Two operands, evaluated in this order by every compiler: `multiply(b, {first(), second()})`. Rules run both at
/// compile time and at start-up. Therefore they must make the same nodes in the same order.
struct in_order {
  value_id first, second;
};
constexpr value_id elementwise(builder& b, function f, in_order xs) { return elementwise(b, f, xs.first, xs.second); }

constexpr value_id add(builder& b, value_id x, value_id y) { return elementwise(b, function::add, x, y); }
constexpr value_id add(builder& b, in_order xs) { return elementwise(b, function::add, xs); }
constexpr value_id subtract(builder& b, value_id x, value_id y) { return elementwise(b, function::subtract, x, y); }
constexpr value_id subtract(builder& b, in_order xs) { return elementwise(b, function::subtract, xs); }
constexpr value_id multiply(builder& b, value_id x, value_id y) { return elementwise(b, function::multiply, x, y); }
constexpr value_id multiply(builder& b, in_order xs) { return elementwise(b, function::multiply, xs); }
constexpr value_id divide(builder& b, value_id x, value_id y) { return elementwise(b, function::divide, x, y); }
constexpr value_id divide(builder& b, in_order xs) { return elementwise(b, function::divide, xs); }
constexpr value_id negate(builder& b, value_id x) { return elementwise(b, function::negate, x); }
constexpr value_id scale(builder& b, value_id x, number const& n) {
  return multiply(b, x, constant(b, n, b.m.values[x].type));
}

/// The sum of `x` over all dims that `like` lacks, in the order of `like`: the gradient of a broadcast.
constexpr value_id sum_to(builder& b, value_id x, shape const& like) {
  shape const dims = b.m.values[x].dims, kept = common(dims, like);
  dtype const type = b.m.values[x].type;
  if (kept.count != dims.count)
    x = b.add(primitive::reduce, static_cast<std::uint8_t>(reduction::sum), ids(&x, 1), type, kept);
  return kept == like ? x : b.add(primitive::transpose, {x}, type, like);
}

}  // namespace meshtensor
