// SPDX-License-Identifier: Apache-2.0
// Emits a scalar function of elements.
#pragma once

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/emit/stablehlo/functions.hpp"
#include "meshtensor/op/constant.hpp"

namespace meshtensor::hlo {

/// The condition under which the result of a relu is 0, if the node asks for it, as gradients do.
inline std::optional<value> known_rectified(emission& e, node const& n) {
  if (!applies(n, function::less_equal) || !(e.dims(n, 0) == e.result_dims(n))) return {};
  auto const known = e.rectified.find(e.m.operand(n, 0));
  node const& zero = e.m.nodes[e.m.operand_value(n, 1).node];
  if (known == e.rectified.end() || declared(zero.kind).fusion != fusion_role::number) return {};
  auto const number = e.known(constant_attributes::of(zero).number);
  return number == 0 ? std::optional(known->second) : std::nullopt;
}

inline value elementwise(emission& e, node const& n) {
  auto const f = static_cast<function>(n.function);
  if (is_comparison(f)) {
    if (auto const known = known_rectified(e, n)) return *known;
    auto const side = [&](int i) {
      return e.laid(widened(e.w, e.operand(n, i)), e.dims(n, i), e.result_dims(n), e.result_type(n).shape);
    };
    value const x = side(0), y = side(1);
    return apply(e.w, f, x, y, "i1");
  }
  value const x = e.laid(n, 0);
  if (f == function::relu) {
    value const is_zero = detail::is_rectified(e.w, x);
    e.rectified.emplace(e.m.result(n), is_zero);
    return select(e.w, {is_zero, like(e.w, x, 0), x});
  }
  if (n.operands.count == 1) return apply(e.w, f, x, x, e.result_type(n).element);
  value const y = e.laid(n, 1);
  if (f == function::add && e.feeds_relu[e.m.result(n)])  // the relu compares the sum before it is rounded
    return convert(e.w, apply(e.w, f, widened(e.w, x), widened(e.w, y), ""), x.type.element);
  return f == function::select ? select(e.w, {x, y, e.laid(n, 2)}) : apply(e.w, f, x, y, e.result_type(n).element);
}

}  // namespace meshtensor::hlo
