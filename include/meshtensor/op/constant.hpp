// SPDX-License-Identifier: Apache-2.0
// constant: a number, as a value without dims.
#pragma once

#include "meshtensor/graph/number_in_steps.hpp"
#include "meshtensor/op/detail/add_node.hpp"
#include "meshtensor/op/detail/number_arithmetic.hpp"

namespace meshtensor {

struct constant_attributes {
  number_id number;       // a row of the table of numbers
  bool is_exact = false;  // f64 must hold the number, because it is an output
  bool is_share = false;  // the number must be greater than 0, and at most 1

  static constexpr constant_attributes of(node const& n) {
    return {static_cast<number_id>(n.attribute[0]), n.attribute[1] != 0, n.attribute[2] != 0};
  }
  constexpr attributes packed() const { return {{number, static_cast<id>(is_exact), static_cast<id>(is_share)}}; }
};

struct constant_rule {
  static constexpr primitive kind = primitive::constant;
  static constexpr declaration declares{
      .operands = {0, 0},
      .attributes = {{attribute_kind::number}, {attribute_kind::flag}, {attribute_kind::flag}},
      .fusion = fusion_role::number};
  static constexpr void infer(inference& i) { i.give(i.type, shape{}); }
  static constexpr void gradient(differentiation&, node const&) {}
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const& y = e.results[0];
    number_value const number = e.context.numbers[constant_attributes::of(e.n).number];
    with_element(y.type, [&]<class E>() { *y.as<E>() = element_of<E>(number); });
  }
};

constexpr value_id constant(builder& b, number const& n, dtype type) {
  number_id const row = b.add_number(n);
  if (b.depth == 0 || !detail::counts_steps_of_call(b.m, row))
    return add_node<constant_rule>(b, {}, constant_attributes{row}.packed(), {type});
  value_id const own = detail::number_in_steps(b, row);
  if (type == dtype::f64) return own;
  return b.add(primitive::elementwise, static_cast<std::uint8_t>(function::cast), ids(&own, 1), type, shape{});
}
/// The number that all elements of a value have, or null if the program does not state it as a literal.
constexpr number_value const* literal_of(module const& m, value_id v) {
  node const* n = &m.nodes[m.values[v].node];
  if (n->kind == primitive::broadcast) n = &m.nodes[m.values[m.operand(*n, 0)].node];
  if (n->kind != primitive::constant) return nullptr;
  number_row const& row = m.numbers[constant_attributes::of(*n).number];
  return row.kind == number_row::literal ? &row.value : nullptr;
}

}  // namespace meshtensor
