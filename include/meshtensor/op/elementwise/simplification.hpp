// SPDX-License-Identifier: Apache-2.0
// Simplifies elementwise nodes: finds the operand that a function returns unchanged, bit for bit.
#pragma once

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/function.hpp"
#include "meshtensor/graph/module.hpp"

namespace meshtensor {

/// The rule `simplify` of elementwise nodes.
struct elementwise_simplification {
  /// The operand that the function returns unchanged. Every result stays the same bit for bit. For example, x + 0 stays
  /// because it turns -0 into 0, and x * 0 stays because it may be NaN.
  static constexpr value_id simplify(auto& s, node& n) {
    value_id const y = s.m.result(n), a = s.m.operand(n, 0), b = n.operands.count > 1 ? s.m.operand(n, 1) : a;
    auto if_alike = [&](value_id v) { return s.alike(v, y) ? v : no_id; };
    bool const real = is_float(s.m.values[y].type);
    switch (static_cast<function>(n.function)) {
      case function::copy:  // a path of its own asks for the layout there, and a copy of a carry keeps the old value
        return n.path == s.maker(a).path && !s.made_by(a, primitive::argument) ? if_alike(a) : no_id;
      case function::stop_gradient: return s.differentiates ? no_id : if_alike(a);
      case function::cast:
        if (s.made_by(a, function::cast) && widens(s.m.values[y].type, s.m.values[a].type))
          return if_alike(s.m.operand(s.maker(a), 0));
        return if_alike(a);
      case function::negate:
      case function::logical_not:
        return s.made_by(a, static_cast<function>(n.function)) ? if_alike(s.m.operand(s.maker(a), 0)) : no_id;
      case function::add:
        if (s.is_literal(b, -0.0) || (!real && s.is_literal(b, 0))) return if_alike(a);
        return s.is_literal(a, -0.0) || (!real && s.is_literal(a, 0)) ? if_alike(b) : no_id;
      case function::subtract: return s.is_literal(b, 0) ? if_alike(a) : no_id;
      case function::multiply:
        if (s.is_literal(b, 1)) return if_alike(a);
        if (s.is_literal(a, 1)) return if_alike(b);
        if (s.is_literal(b, -1)) return negates(s, n, a);
        return s.is_literal(a, -1) ? negates(s, n, b) : no_id;
      case function::divide:
        if (s.is_literal(b, 1)) return if_alike(a);
        return s.is_literal(b, -1) ? negates(s, n, a) : no_id;
      case function::maximum:
      case function::minimum:
      case function::logical_and:
      case function::logical_or: return a == b ? if_alike(a) : no_id;
      case function::select: return b == s.m.operand(n, 2) ? if_alike(b) : no_id;
      default: return no_id;
    }
  }

 private:
  /// Whether every number of type `a` converts to type `b` and back unchanged.
  static constexpr bool widens(dtype a, dtype b) {
    return (b == dtype::f64 && a != dtype::i64) || (b == dtype::f32 && (a == dtype::bf16 || a == dtype::u8)) ||
           (b == dtype::i64 && (a == dtype::i32 || a == dtype::u8)) || (b == dtype::i32 && a == dtype::u8);
  }

  // Turns a node into -x. If x is the negation of a value itself, returns that value.
  static constexpr value_id negates(auto& s, node& n, value_id x) {
    value_id const y = s.m.result(n);
    if (!s.alike(x, y)) return no_id;
    n.function = static_cast<std::uint8_t>(function::negate);
    s.m.links[n.operands.first] = x, n.operands.count = 1;
    return s.made_by(x, function::negate) && s.alike(s.m.operand(s.maker(x), 0), y) ? s.m.operand(s.maker(x), 0)
                                                                                    : no_id;
  }
};

}  // namespace meshtensor
