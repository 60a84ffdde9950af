// SPDX-License-Identifier: Apache-2.0
// iota: the positions along a dim.
#pragma once

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/detail/add_node.hpp"
#include "meshtensor/op/detail/record.hpp"

namespace meshtensor {

struct iota_rule {
  static constexpr primitive kind = primitive::iota;
  static constexpr declaration declares{.operands = {0, 0}, .fusion = fusion_role::position};
  static constexpr void infer(inference& i) { i.expect(i.dims.count == 1, "T03 iota has one dim"); }
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

constexpr value_id iota(builder& b, int dim, dtype type) {
  shape dims{};
  return add_node<iota_rule>(b, {}, {}, {type, dims.add(dim)});
}

// ---- public functions ----

namespace detail {
template <dtype T>
consteval auto iota_finding() {
  if constexpr (T != dtype::boolean) return no_error{};
  else return refusal<"T04 iota of bools: choose an integer or a float", dtype_constant<T>>{};
}
}  // namespace detail

/// The positions along a dim, 0, 1, 2, …: `iota(s, length, mt::i32)`.
template <scope S, dim_type D, dtype T>
constexpr tensor<T, D> iota(S const& s, D along, dtype_constant<T>,
                            checked_line<decltype(detail::iota_finding<T>())> const& where = {}) {
  detail::recording r(&s.graph_builder(), where);
  if constexpr (T == dtype::boolean) r.b.give_up();
  return {&r.b, iota(r.b, detail::dim_of(r.b, along), T)};
}

}  // namespace meshtensor
