// SPDX-License-Identifier: Apache-2.0
// Adds a node: the `infer` of its operation gives the result's dtype and dims, and a fault is the program's error.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/graph/rule.hpp"

namespace meshtensor {

/// The dtype and dims that the caller of an operation chooses, where the operation leaves them to its caller.
struct requested {
  dtype type = dtype::f32;
  shape dims{};
};

/// Adds a node of an operation with one result.
template <class Rule>
constexpr value_id add_node(builder& b, ids operands, attributes const& a = {}, requested const& as = {},
                            std::uint8_t function = 0) {
  inference i = inference_of(b.m, operands, function, a.at, as.type, as.dims);
  Rule::infer(i);
  if (i.fault != nullptr) {
    diagnostic d{};
    b.note(add_facts(d << i.fault, b.m, i));
  }
  return b.add(Rule::kind, function, operands, i.type, i.dims, a);
}
template <class Rule>
constexpr value_id add_node(builder& b, std::initializer_list<value_id> operands, attributes const& a = {},
                            requested const& as = {}, std::uint8_t function = 0) {
  return add_node<Rule>(b, ids(operands.begin(), operands.size()), a, as, function);
}

}  // namespace meshtensor
