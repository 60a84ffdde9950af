// SPDX-License-Identifier: Apache-2.0
// argsort: the positions that sort the elements along a dim in ascending or descending order.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "meshtensor/op/detail/add_node.hpp"
#include "meshtensor/op/detail/record.hpp"

namespace meshtensor {

/// The order in which `sort` and `argsort` put elements: the smallest first, or the largest first.
enum class sort_order : std::uint8_t { ascending, descending };

struct argsort_attributes {
  dim_id dim;
  sort_order order;

  static constexpr argsort_attributes of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), static_cast<sort_order>(slots[1])};
  }
  static constexpr argsort_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{dim, static_cast<id>(order)}}; }
};

struct argsort_rule {
  static constexpr primitive kind = primitive::argsort;
  static constexpr declaration declares{.attributes = {{attribute_kind::dim}, {attribute_kind::flag}},
                                        .text = "along {0}"};
  static constexpr void infer(inference& i) {
    i.expect(i.dims_of(0).has(argsort_attributes::of(i.attributes).dim), "T01 argsort: the operand lacks the dim", 1,
             1);
    i.expect(!i.has_type(0, dtype::boolean), "T04 argsort of bools: cast the operand", 1);
    i.give(dtype::i64, i.dims_of(0));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return meshtensor::sharding{}.keeps_whole(argsort_attributes::of(n).dim);
  }
  static constexpr void gradient(differentiation&, node const&) {}

  /// Writes to `positions` the positions of `count` elements, which are `stride` apart, in the order of the elements.
  template <class E>
  static void sort(E const* x, std::int64_t stride, std::int64_t* positions, std::int64_t count, sort_order order) {
    using A = arithmetic_t<E>;
    auto const at = [&](std::int64_t i) { return static_cast<A>(x[i * stride]); };
    std::iota(positions, positions + count, std::int64_t{0});
    std::sort(positions, positions + count, [&](std::int64_t a, std::int64_t b) {
      bool const greater = is_greater<A>(at(a), at(b)), less = is_greater<A>(at(b), at(a));
      return greater == less ? a < b : greater == (order == sort_order::descending);
    });
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    argsort_attributes const a = argsort_attributes::of(e.n);
    int const along = y.find(a.dim);
    std::int64_t const count = y.extent[along];
    walk<2> w = walk_of_lines(x, y, along);
    if (w.empty() || count == 0) return;
    std::vector<std::int64_t> positions(static_cast<std::size_t>(count));
    with_element(x.type, [&]<class E>() {
      do {
        sort(x.as<E>() + w.offset[0], x.stride[along], positions.data(), count, a.order);
        for (std::int64_t i = 0; i < count; ++i)
          y.as<std::int64_t>()[w.offset[1] + i * y.stride[along]] = positions[static_cast<std::size_t>(i)];
      } while (w.next());
    });
  }
};

constexpr value_id argsort(builder& b, value_id x, dim_id dim, sort_order order) {
  return add_node<argsort_rule>(b, {x}, argsort_attributes{dim, order}.packed());
}

// ---- public functions ----

/// The positions, as i64, that sort the elements along a dim. The order is ascending, unless a call asks for the other
/// one: `argsort(scores, word, mt::sort_order::descending)`. Equal elements keep their order. A nan is greater than any
/// number.
///
/// dims    those of `x`
/// layout  a sharded dim is gathered first
/// grad    none
/// errors  T01 `x` lacks the dim; T04 `x` is bool
template <handle H, dim_type D>
constexpr auto argsort(H const& x, D along, sort_order order = sort_order::ascending,
                       detail::rule_line<argsort_rule, dims<D>, H> const& where = {}) {
  return detail::record<argsort_rule, D>(
      where, [&](builder& b) { return argsort(b, x.id, detail::dim_of(b, along), order); }, x);
}

}  // namespace meshtensor
