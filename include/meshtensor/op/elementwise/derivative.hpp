// SPDX-License-Identifier: Apache-2.0
// Declares the derivative of each scalar function. Its definition is in the header of the function in this folder.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"

namespace meshtensor {

/// An elementwise node y = f(x, z) while its gradient is made, with values of the forward pass as terms need them.
class differentiated_function {
 public:
  builder& b;
  node const& n;
  value_id dy;  // the cotangent of the result
  dtype type;

  constexpr differentiated_function(differentiation& d, node const& of)
      : b(d.b), n(of), dy(d.cotangent(d.b.m.result(of))), type(d.b.m.values[dy].type), d_(d) {}

  constexpr value_id x() const { return d_.forward(operand(0)); }
  constexpr value_id z() const { return d_.forward(operand(1)); }
  constexpr value_id y() const { return d_.forward(b.m.result(n)); }
  constexpr value_id operand(int i) const { return b.m.operand(n, i); }
  constexpr value_id number(meshtensor::number const& of) const { return constant(b, of, type); }

  /// Adds the value of `term()` to the cotangent of operand `i`, summed over the dims that the operand lacks. The term
  /// is not made if nothing needs it.
  constexpr void give(int i, auto const& term) const {
    value_id const to = operand(i);
    if (d_.differentiable(to)) d_.contribute(to, sum_to(b, term(), b.m.values[to].dims));
  }

 private:
  differentiation& d_;
};

/// The derivative of a scalar function. A function without a specialization gives nothing to its operands, for example
/// because it is flat.
template <function F>
struct derivative {
  static constexpr void give(differentiated_function const&) {}
};

}  // namespace meshtensor
