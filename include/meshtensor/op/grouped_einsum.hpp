// SPDX-License-Identifier: Apache-2.0
// grouped_einsum: an einsum in which an index chooses the matrix of each row.
#pragma once

#include "meshtensor/base/saturating.hpp"
#include "meshtensor/op/einsum.hpp"

namespace meshtensor {

constexpr value_id grouped_einsum(builder& b, value_id x, value_id y, value_id index, dim_id groups, shape const& to);

struct grouped_einsum_attributes {
  dim_id groups;  // the dim of one operand or of the result along which the index gives positions

  static constexpr grouped_einsum_attributes of(id const* slots) { return {static_cast<dim_id>(slots[0])}; }
  static constexpr grouped_einsum_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{groups}}; }
};

/// The einsum of operands 0 and 1 and of a mask. The mask is 1 where operand 2, the index, equals the position along
/// `groups`. If one of the operands has `groups`, the index chooses a part of it for each row. If the result has it,
/// the terms of each group are summed. The gradients of both are again such nodes.
struct grouped_einsum_rule {
  static constexpr primitive kind = primitive::grouped_einsum;
  static constexpr declaration declares{
      .operands = {3, 3}, .attributes = {{attribute_kind::dim}}, .work = work_kind::product, .text = "by {0}"};
  static constexpr void infer(inference& i) {
    dim_id const groups = grouped_einsum_attributes::of(i.attributes).groups;
    i.expect(i.is_integer(2), "T02 grouped_einsum: the index is not an integer", 4);
    i.expect(i[0].type == i[1].type, "T02 the dtypes of the operands differ: cast one of them", 3);
    i.expect(!i.has_type(0, dtype::boolean), "T04 arithmetic on bool: cast the operand", 1);
    i.expect(!i.dims_of(2).has(groups), "T03 grouped_einsum: the index has the dim of the groups: rename it", 4, 1);
    int const places = i.dims_of(0).has(groups) + i.dims_of(1).has(groups) + i.dims.has(groups);
    i.expect(places != 0, "T01 grouped_einsum: neither an operand nor the result has the dim of the groups", 3, 1);
    i.expect(places < 2, "T03 grouped_einsum: more than one of the operands and the result has the dim of the groups",
             3, 1);
    for (int k = 0; k < i.dims.count; ++k) {
      int const d = i.dims.at[k];
      i.expect(d == groups || i.dims_of(0).has(d) || i.dims_of(1).has(d) || i.dims_of(2).has(d),
               "T01 grouped_einsum: no operand has a dim that the result names", 7);
    }
    i.give(i[0].type, i.dims);
  }

  // As for einsum, each rank computes the products of the rows, sums and groups that it has. If rows are on the ranks
  // that hold their groups, no sum over ranks is needed.
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return meshtensor::sharding{}
        .contracted(reduction::sum)
        .looks_up(grouped_einsum_attributes::of(n).groups)
        .passes_partial(linearity::separate, meshtensor::sharding::kind(reduction::sum), 3);
  }

  /// Two operations for every point of all dims but the groups, because each row meets only one of the groups.
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    return saturated_product(detail::points_of_operands(m, n, extents, grouped_einsum_attributes::of(n).groups), 2);
  }

  // As for einsum. The dim of the groups counts as known, because the index stands for it.
  static constexpr void gradient(differentiation& d, node const& n) {
    builder& b = d.b;
    value_id const dy = d.cotangent(b.m.result(n)), index = b.m.operand(n, 2);
    dim_id const groups = grouped_einsum_attributes::of(n).groups;
    for (int i = 0; i < 2; ++i) {
      value_id const x = b.m.operand(n, i), other = b.m.operand(n, 1 - i);
      if (!d.differentiable(x)) continue;
      dtype const type = b.m.values[x].type;
      shape const dims = b.m.values[x].dims;
      shape alone = without(dims, shape{}.add(groups));
      for (value_id known : {dy, other, index}) alone = without(alone, b.m.values[known].dims);
      shape const reachable = without(dims, alone);
      value_id term = grouped_einsum(b, dy, d.forward(other), d.forward(index), groups, reachable);
      if (!(reachable == dims)) term = b.add(primitive::broadcast, {term}, type, dims);
      d.contribute(x, term);
    }
  }

  template <class = lazy>
  static void evaluate(evaluation const& e) {
    with_element(e.results[0].type, [&]<class E>() { evaluate_as<E>(e); });
  }

 private:
  template <class E>
  static void evaluate_as(evaluation const& e) {
    view const &a = e.operands[0], &b = e.operands[1], &index = e.operands[2], &y = e.results[0];
    int const groups = grouped_einsum_attributes::of(e.n).groups, in_a = a.find(groups), in_b = b.find(groups);
    view const& table = in_a >= 0 ? a : in_b >= 0 ? b : y;
    int const along = table.find(groups);
    std::int64_t const step_a = in_a >= 0 ? a.stride[in_a] : 0, step_b = in_b >= 0 ? b.stride[in_b] : 0;
    bool const in_result = in_a < 0 && in_b < 0;
    walk<4> w;
    std::uint16_t dims[2 * max_dims_of_one];
    auto add = [&](view const& v) {
      for (int i = 0; i < v.count; ++i) {
        bool known = v.dim[i] == groups && !in_result;
        for (int k = 0; k < w.count; ++k) known = known || dims[k] == v.dim[i];
        if (known) continue;
        require(w.count < 2 * max_dims_of_one, "T46: a grouped_einsum has at most 20 dims");
        dims[w.count] = v.dim[i], w.extent[w.count++] = v.extent[i];
      }
    };
    add(y);
    int const kept = w.count;
    add(a), add(b), add(index);
    w.bind(0, a, dims), w.bind(1, b, dims), w.bind(2, index, dims), w.bind(3, y, dims);
    std::int64_t inner = 1, outer = 1;
    for (int i = 0; i < w.count; ++i) (i < kept ? outer : inner) *= w.extent[i];
    if (inner == 0) w.count = kept;  // sums of no terms
    for (std::int64_t o = 0; o < outer; ++o) {
      using term = typename wide_sum<E>::term;
      wide_sum<E> sum;
      std::int64_t const where = w.offset[3];
      for (std::int64_t k = 0; k < inner; ++k, w.next()) {
        std::int64_t const global = with_element(index.type, [&]<class I>() {
          return static_cast<std::int64_t>(static_cast<arithmetic_t<I>>(index.as<I>()[w.offset[2]]));
        });
        std::int64_t const local = global < 0 ? -1 : global - table.origin[along];
        bool const here = local >= 0 && local < table.extent[along] && global < table.total[along];
        if (!here || (in_result && local != w.index[along])) continue;
        sum.add(static_cast<term>(a.as<E>()[w.offset[0] + local * step_a]) *
                static_cast<term>(b.as<E>()[w.offset[1] + local * step_b]));
      }
      if (inner == 0) w.next();
      y.as<E>()[where] = sum.value();
    }
  }
};

/// out[to] = Σ over all other dims of x · y · (1 where the index is the position along `groups`, else 0).
constexpr value_id grouped_einsum(builder& b, value_id x, value_id y, value_id index, dim_id groups, shape const& to) {
  return add_node<grouped_einsum_rule>(b, {x, y, index}, grouped_einsum_attributes{groups}.packed(), {dtype::f32, to});
}

// ---- public functions ----

namespace detail {
template <handle X, handle Y, handle Index, dim_type D, dim_type... To>
consteval auto grouped_finding() {
  constexpr bool traced =
      is_any<typename X::dim_list> || is_any<typename Y::dim_list> || is_any<typename Index::dim_list>;
  constexpr int places = has_dim<X, D> + has_dim<Y, D> + has_dim_v<dims<To...>, D>;
  if constexpr (!of_integer<Index>) return refusal<"T02 grouped_einsum: the index is not an integer", Index>{};
  else if constexpr (X::type != Y::type)
    return refusal<"T02 the dtypes of the operands differ: cast one of them", X, Y>{};
  else if constexpr (of_bool<X>) return refusal<"T04 arithmetic on bool: cast the operand", X>{};
  else if constexpr (traced) return no_error{};
  else if constexpr (has_dim<Index, D>)
    return refusal<"T03 grouped_einsum: the index has the dim of the groups: rename it", Index, D>{};
  else if constexpr (places == 0)
    return refusal<"T01 grouped_einsum: neither an operand nor the result has the dim of the groups", X, Y, D>{};
  else if constexpr (places > 1)
    return refusal<"T03 grouped_einsum: more than one of the operands and the result has the dim of the groups", X, Y,
                   D>{};
  else if constexpr (!((dim_of_any<To, X, Y, Index> || same_dim<To, D>) && ...))
    return refusal<"T01 grouped_einsum: no operand has a dim that the result names", X, Y, Index, To...>{};
  else return no_error{};
}
}  // namespace detail

/// An einsum in which an index chooses the matrix of each row. For example, take x [token, d_model], weight [experts,
/// d_model, d_ff] and expert [token]. Then `grouped_einsum(x, weight, expert, experts, to(token, d_ff))` multiplies
/// each row of `x` by weight[expert[token]]. It is `einsum(x, gather(weight, expert, experts), to(token, d_ff))`, but
/// it makes no matrix for each row. Instead, rows of one group are multiplied together, in any number and order. A row
/// whose index is out of range gives zeros. If the result has the dim of the groups, the terms of each group are
/// summed: `grouped_einsum(x, dy, expert, experts, to(experts, d_model, d_ff))`.
///
/// dims    those of `to`, in its order
/// layout  if groups are sharded over an axis, each rank multiplies the rows of its groups, and the result is a partial
///         sum. If a summed dim is sharded, the result is a partial sum, too. Sharded rows stay on their ranks
/// grad    grouped_einsums of the cotangent with the other operand
/// errors  T01 no operand has a dim of the result, or nothing has the dim of the groups; T02 the dtypes differ, the
///         index is not an integer; T03 the index has the dim of the groups, or more than one of the operands and the
///         result has it
/// source  Gale et al., MegaBlocks, arXiv:2211.15841, and Tan et al., ScatterMoE, arXiv:2403.08245
template <handle X, handle Y, handle Index, dim_type D, dim_type... To>
constexpr auto grouped_einsum(
    X const& x, Y const& y, Index const& index, D groups, to_dims<To...>,
    checked_line<decltype(detail::grouped_finding<X, Y, Index, D, To...>())> const& where = {}) {
  if constexpr (nothing_found<decltype(detail::grouped_finding<X, Y, Index, D, To...>())>) {
    detail::recording r(detail::owner_of(x, y, index), where);
    shape const wanted = detail::shape_of(r.b, dims<To...>{});
    return detail::wrap<X::type, dims<To...>>(
        r.b, grouped_einsum(r.b, x.id, y.id, index.id, detail::dim_of(r.b, groups), wanted));
  } else {
    return detail::given_up<X::type, dims<To...>>(x);
  }
}
/// Rejects a call in which the dims of the result are not in `to(...)`.
template <handle X, handle Y, class Index, dim_type D, detail::argument A = detail::none_given,
          detail::argument B = detail::none_given, detail::argument C = detail::none_given>
requires(!detail::is_to<A>)
constexpr auto grouped_einsum(X const& x, Y const&, Index const&, D, A const& = {}, B const& = {}, C const& = {},
                              detail::refused_call<"T26 grouped_einsum(x, matrices, index, groups, mt::to(dims of the "
                                                   "result)): the dims of the result stand in mt::to(...)",
                                                   D, A, B, C> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
