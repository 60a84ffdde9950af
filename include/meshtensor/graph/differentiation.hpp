// SPDX-License-Identifier: Apache-2.0
// The state of differentiating one region backwards: cotangents so far, and forward values as they are called where the
// backward nodes are made.
#pragma once

#include "meshtensor/graph/builder.hpp"

namespace meshtensor {

/// Rules of operations ask it for forward values and cotangents, and give it contributions; it adds them up.
struct differentiation {
  builder& b;
  differentiation* outer;   // of the enclosing region
  id loop_node;             // the forward loop whose body this is; no_id: straight code
  id adjoint[max_values];   // of a forward value, plus 1; 0: none yet
  id recalled[max_values];  // a value of the loop's body as it is called in the backward body, plus 1; 0: not asked yet

  bool active[max_values];  // depends on what is differentiated by

  constexpr explicit differentiation(builder& target, differentiation* enclosing = nullptr, id forward_loop = no_id)
      : b(target), outer(enclosing), loop_node(forward_loop), adjoint{}, recalled{}, active{} {}

  constexpr bool has_cotangent(id forward_value) const { return adjoint[forward_value] != 0; }
  constexpr id cotangent(id forward_value) const {
    return has_cotangent(forward_value) ? static_cast<id>(adjoint[forward_value] - 1) : no_id;
  }
  /// Whether a value's cotangent is wanted.
  constexpr bool differentiable(id forward_value) const {
    return active[forward_value] && is_float(b.m.values[forward_value].type);
  }

  /// Adds `term` to the cotangent of a forward value; it has the value's dims, in any order.
  constexpr void contribute(id forward_value, id term) {
    value const v = b.m.values[forward_value];
    if (!differentiable(forward_value)) return;
    if (!(b.m.values[term].dims == v.dims)) term = b.add(primitive::transpose, {term}, v.type, v.dims);
    if (has_cotangent(forward_value))
      term = b.add(primitive::elementwise, static_cast<std::uint8_t>(function::add),
                   std::initializer_list<id>{cotangent(forward_value), term}, v.type, v.dims);
    adjoint[forward_value] = static_cast<id>(term + 1);
  }

  /// A forward value as it is called here. Inside a loop it is kept from the forward loop, as one more stacked output;
  /// what takes no operands is made again. (What else is made again, `save_or_recompute` decides.) The body of a
  /// composite may have been copied here, to be differentiated.
  constexpr id forward(id v) {
    if (loop_node == no_id || b.m.values[v].region == b.region) return v;
    if (recalled[v] == 0) recalled[v] = static_cast<id>(recall(v) + 1);
    return static_cast<id>(recalled[v] - 1);
  }

 private:
  constexpr id recall(id v) {
    node const made_by = b.m.nodes[b.m.values[v].node];
    node const l = b.m.nodes[loop_node];
    loop const how = loop::of(l);
    if (made_by.kind == primitive::argument) {
      int const place = made_by.attribute[0];
      id const passed = b.m.operand(l, place);
      if (place >= how.carries + how.stacked) return outside(passed);
      if (place >= how.carries) return b.add_stacked(outside(passed));
    } else if (made_by.operands.count == 0 ||
               (is_arithmetic(made_by.kind) && b.m.values[v].dims.has(how.dim))) {  // cannot be stacked
      id_list<4> operands{};
      for (int i = 0; i < made_by.operands.count; ++i) operands.add(forward(b.m.operand(made_by, i)));
      return b.add_again(made_by, b.m.values[v], operands);
    }
    return b.add_stacked(outside(b.add_stacked_output(loop_node, v)));
  }
  /// A value from around the forward loop as it is called around this one.
  constexpr id outside(id v) {
    id const here = b.region;
    b.region = b.m.regions[here].parent, --b.depth;
    id const called = outer->forward(v);
    b.region = here, ++b.depth;
    return called;
  }
};

}  // namespace meshtensor
