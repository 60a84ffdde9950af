// SPDX-License-Identifier: Apache-2.0
// Describes a forward node that is copied to the place of the backward nodes.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"

namespace meshtensor::detail {

/// A forward node copied to the place of the backward nodes: the operands and results of the copy.
struct forward_copy {
  id_list<> targets, inside;  // operands that need cotangents, and their values in the copy
  id_list<> results;          // results of the node that have cotangents, whose copies are `made`
  id_list<> made;
  int begin;  // the first node of the copy
};

constexpr value_id taken_by_copy(differentiation& d, value_id x, forward_copy& c) {
  builder& b = d.b;
  value_id v = b.use(d.forward(x));
  if (d.differentiable(x)) {  // a copy of its own, because other uses of the operand add to another cotangent
    v = elementwise(b, function::copy, v);
    c.targets.add(x), c.inside.add(v), d.active[v] = true;
  }
  return v;
}

}  // namespace meshtensor::detail
