// SPDX-License-Identifier: Apache-2.0
// argmax: finds the position of the greatest element along a dim.
#pragma once

#include "meshtensor/op/detail/composed.hpp"

namespace meshtensor {

struct argmax_attributes {
  dim_id dim;

  static constexpr argmax_attributes of(id const* slots) { return {static_cast<dim_id>(slots[0])}; }
  static constexpr argmax_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{dim}}; }
};

struct argmax_rule {
  static constexpr primitive kind = primitive::argmax;
  static constexpr declaration declares{
      .attributes = {{attribute_kind::dim}}, .work = work_kind::function, .text = "along {0}"};
  static constexpr void infer(inference& i) {
    dim_id const dim = argmax_attributes::of(i.attributes).dim;
    i.expect(i.dims_of(0).has(dim), "T01 argmax: the operand lacks the dim", 1, 1);
    i.expect(!i.has_type(0, dtype::boolean), "T04 argmax of bools: cast the operand", 1);
    i.give(dtype::i64, without(i.dims_of(0), shape{}.add(dim)));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return meshtensor::sharding{}.keeps_whole(argmax_attributes::of(n).dim);
  }
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    return extents.local_size(m.operand_value(n, 0));
  }
  static constexpr void gradient(differentiation&, node const&) {}
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    int const along = x.find(argmax_attributes::of(e.n).dim);
    walk<2> w;
    for (int i = 0; i < y.count; ++i) w.extent[w.count++] = y.extent[i];
    w.bind(0, x, y.dim), w.bind(1, y, y.dim);
    if (w.empty()) return;
    with_element(x.type, [&]<class E>() {
      using A = arithmetic_t<E>;
      do {
        E const* row = x.as<E>() + w.offset[0];
        std::int64_t best = 0;
        for (std::int64_t i = 1; i < x.extent[along]; ++i)
          if (is_greater<A>(row[i * x.stride[along]], row[best * x.stride[along]])) best = i;
        y.as<std::int64_t>()[w.offset[1]] = best;
      } while (w.next());
    });
  }
};

constexpr value_id argmax(builder& b, value_id x, dim_id dim) {
  return add_node<argmax_rule>(b, {x}, argmax_attributes{dim}.packed());
}

// ---- public functions ----

/// The position of the maximum along a dim, as i64. On a tie it is the lowest position. A nan is greater than any
/// number.
///
/// dims    those of `x` without the dim
/// layout  a sharded dim is gathered first
/// grad    none
/// errors  T01 `x` lacks the dim; T04 `x` is bool
template <handle H, dim_type D>
constexpr auto argmax(H const& x, D along, detail::rule_line<argmax_rule, dims<D>, H> const& where = {}) {
  return detail::record<argmax_rule, D>(
      where, [&](builder& b) { return argmax(b, x.id, detail::dim_of(b, along)); }, x);
}
/// Rejects a call with a position in the place of the dim, or without a dim.
template <handle H, detail::argument A = detail::none_given, detail::argument B = detail::none_given>
requires(!dim_type<A> || !std::same_as<B, detail::none_given>)
constexpr auto argmax(
    H const& x, A const& = {}, B const& = {},
    detail::refused_call<"T25 argmax goes along a dim, by its name: argmax(x, vocab)", H, A, B> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
