// SPDX-License-Identifier: Apache-2.0
// Values without operands: a number, positions along a dim, the index of the enclosing loop.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/graph/rule.hpp"
#include "meshtensor/op/detail/scalar.hpp"

namespace meshtensor {

constexpr id constant(builder& b, number const& n, dtype type) {
  return b.add(primitive::constant, {}, type, shape{}, {{b.add_number(n)}});
}
constexpr id iota(builder& b, int dim, dtype type) {
  shape dims{};
  return b.add(primitive::iota, {}, type, dims.add(dim));
}

struct constant_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    if (m.result_value(n).dims.count != 0) return "a constant has dims";
    return n.attribute[0] < m.number_count ? nullptr : "a constant names no number";
  }
  static constexpr void gradient(differentiation&, node const&) {}
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const& y = e.results[0];
    with_element(y.type, [&]<class E>() { *y.as<E>() = element_of<E>(e.number(0)); });
  }
};

struct iota_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    return m.result_value(n).dims.count == 1 ? nullptr : "iota has one dim";
  }
  static constexpr void gradient(differentiation&, node const&) {}
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const& y = e.results[0];
    with_element(y.type, [&]<class E>() {
      for (std::int64_t i = 0; i < y.extent[0]; ++i)
        y.as<E>()[i * y.stride[0]] = static_cast<E>(static_cast<arithmetic_t<E>>(y.origin[0] + i));
    });
  }
};

struct iteration_rule {
  static constexpr char const* verify(module const& m, node const& n) {
    return m.result_value(n).dims.count == 0 ? nullptr : "an iteration index has dims";
  }
  static constexpr void gradient(differentiation&, node const&) {}
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const& y = e.results[0];
    with_element(y.type,
                 [&]<class E>() { *y.as<E>() = static_cast<E>(static_cast<arithmetic_t<E>>(e.context.index)); });
  }
};

}  // namespace meshtensor
