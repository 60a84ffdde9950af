// SPDX-License-Identifier: Apache-2.0
// The state of reverse-mode differentiation of one region. It has the cotangents so far, and the forward values under
// the ids that they have in the backward region.
#pragma once

#include "meshtensor/graph/builder.hpp"

namespace meshtensor {

/// Rules of operations read forward values and cotangents from this state, and add contributions to cotangents.
struct differentiation {
  builder& b;
  differentiation* outer;   // of the enclosing region
  node_id loop_node;        // the forward loop whose body is differentiated, no_id if there is no loop
  id adjoint[max_values];   // the cotangent of a forward value, plus 1; 0 if there is none yet
  id recalled[max_values];  // the id in the backward body of a value of the loop's body, plus 1; 0 if not yet asked for

  bool active[max_values];  // whether it depends on a value by which the loss is differentiated

  constexpr explicit differentiation(builder& target, differentiation* enclosing = nullptr,
                                     node_id forward_loop = no_id)
      : b(target), outer(enclosing), loop_node(forward_loop), adjoint{}, recalled{}, active{} {}

  constexpr bool has_cotangent(value_id forward_value) const { return adjoint[forward_value] != 0; }
  constexpr value_id cotangent(value_id forward_value) const {
    return has_cotangent(forward_value) ? static_cast<value_id>(adjoint[forward_value] - 1) : no_id;
  }
  /// Whether a value needs a cotangent.
  constexpr bool differentiable(value_id forward_value) const {
    return active[forward_value] && is_float(b.m.values[forward_value].type);
  }

  /// Adds `term` to the cotangent of a forward value. It must have the value's dims, in any order.
  constexpr void contribute(value_id forward_value, value_id term) {
    value const v = b.m.values[forward_value];
    if (!differentiable(forward_value)) return;
    if (!(b.m.values[term].dims == v.dims)) term = b.add(primitive::transpose, {term}, v.type, v.dims);
    if (has_cotangent(forward_value))
      term = b.add(primitive::elementwise, static_cast<std::uint8_t>(function::add),
                   std::initializer_list<value_id>{cotangent(forward_value), term}, v.type, v.dims);
    adjoint[forward_value] = static_cast<id>(term + 1);
  }

  /// The id of a forward value in the backward region. In a loop, the forward loop saves the value as one more stacked
  /// output, but a node without operands is recomputed. (`save_or_recompute` later decides whether other values are
  /// recomputed.) The body of a composite may have been copied into the region that differentiates it.
  constexpr value_id forward(value_id v) {
    if (loop_node == no_id || b.m.values[v].region == b.region) return v;
    if (recalled[v] == 0) recalled[v] = static_cast<id>(recall(v) + 1);
    return static_cast<value_id>(recalled[v] - 1);
  }

 private:
  constexpr value_id recall(value_id v) {
    node const made_by = b.m.nodes[b.m.values[v].node];
    node const l = b.m.nodes[loop_node];
    loop const how = loop::of(l);
    if (made_by.kind == primitive::argument) {
      int const place = place_of(made_by);
      value_id const passed = b.m.operand(l, place);
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
  /// The id of a value from outside the forward loop, in the region around the backward loop.
  constexpr value_id outside(value_id v) {
    region_id const here = b.region;
    b.region = b.m.regions[here].parent, --b.depth;
    value_id const called = outer->forward(v);
    b.region = here, ++b.depth;
    return called;
  }
};

}  // namespace meshtensor
