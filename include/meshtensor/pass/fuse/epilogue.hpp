// SPDX-License-Identifier: Apache-2.0
// Reads the composites `conv_epilogue` and `product_epilogue`: a convolution or product, and the elementwise operations
// that follow it.
#pragma once

#include "meshtensor/graph/attributes.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor {

inline constexpr name epilogue_name("conv_epilogue"), product_epilogue_name("product_epilogue");

/// The parts of such a composite, in the order in which they are applied. The operands are those of the product, then
/// the factor, the offset and the tensor to add, if the composite has them.
struct epilogue_form {
  bool found, factor, offset, sum, relu;
  node_id product;  // the convolution or einsum

  constexpr int operands() const { return 2 + factor + offset + sum; }
};
constexpr epilogue_form epilogue_form_of(module const& m, node const& n) {
  epilogue_form f{};
  if (n.kind != primitive::composite) return f;
  f.found = m.names[name_of(n)] == epilogue_name || m.names[name_of(n)] == product_epilogue_name;
  for (int i = 0; f.found && i < m.node_count; ++i) {
    node const& one = m.nodes[i];
    if (one.region != m.region_of(n, 0)) continue;
    if (declared(one.kind).joins != epilogues::none) f.product = static_cast<node_id>(i);
    if (declared(one.kind).fusion != fusion_role::function) continue;
    shape const& z = m.result_value(one).dims;
    bool const spread = !(m.operand_value(one, one.operands.count - 1).dims == z && m.operand_value(one, 0).dims == z);
    auto const how = static_cast<function>(one.function);
    (how == function::multiply ? f.factor : how == function::relu ? f.relu : spread ? f.offset : f.sum) = true;
  }
  return f;
}

/// Mask of the operands whose buffer the result of a composite may reuse: the tensor that an epilogue adds.
constexpr unsigned overwritten_by_epilogue(module const& m, node const& n) {
  epilogue_form const f = epilogue_form_of(m, n);
  return f.found && f.sum ? 1u << (f.operands() - 1) : 0;
}

}  // namespace meshtensor
