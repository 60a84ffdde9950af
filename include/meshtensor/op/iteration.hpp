// SPDX-License-Identifier: Apache-2.0
// iteration: the index of the enclosing loop.
#pragma once

#include "meshtensor/op/detail/add_node.hpp"
#include "meshtensor/op/detail/number_arithmetic.hpp"

namespace meshtensor {

struct iteration_rule {
  static constexpr primitive kind = primitive::iteration;
  static constexpr declaration declares{.operands = {0, 0}};
  static constexpr void infer(inference& i) { i.give(dtype::i64, shape{}); }
  static constexpr void gradient(differentiation&, node const&) {}
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const& y = e.results[0];
    with_element(y.type,
                 [&]<class E>() { *y.as<E>() = static_cast<E>(static_cast<arithmetic_t<E>>(e.context.index)); });
  }
};

}  // namespace meshtensor
