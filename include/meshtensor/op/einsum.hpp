// SPDX-License-Identifier: Apache-2.0
// einsum: products, summed over the dims that the result lacks.
#pragma once

#include "meshtensor/op/detail/einsum_loop.hpp"
#include "meshtensor/op/detail/einsum_types.hpp"
#include "meshtensor/op/detail/points_of_operands.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace meshtensor {

constexpr value_id einsum(builder& b, ids operands, shape const& to);

struct einsum_rule {
  static constexpr primitive kind = primitive::einsum;
  static constexpr declaration declares{.operands = {1, inference::most_operands},
                                        .work = work_kind::product,
                                        .takes_strides = true,
                                        .joins = epilogues::of_products};
  static constexpr void infer(inference& i) {
    unsigned const all = (1u << i.count) - 1u;
    dtype const type = i.common_type();
    for (int k = 0; k < i.dims.count; ++k) {
      bool known = false;
      for (int o = 0; o < i.count; ++o) known = known || i.dims_of(o).has(i.dims.at[k]);
      i.expect(known, "T01 einsum: no operand has a dim that the result names", all);
    }
    i.give(type, i.dims);
  }

  static constexpr meshtensor::sharding sharding(module const&, node const&) {
    return meshtensor::sharding{}
        .contracted(reduction::sum)
        .passes_partial(linearity::separate, meshtensor::sharding::kind(reduction::sum));
  }

  /// One operation for each operand, at every point of all dims.
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    return saturated_product(detail::points_of_operands(m, n, extents), n.operands.count);
  }

  /// Drops factors of one. The node stays an einsum even with one operand, because a sum of one term turns -0 into 0.
  static constexpr value_id simplify(auto& s, node& n) {
    int kept = 0;
    for (int i = 0; i < n.operands.count; ++i) {
      value_id const v = s.m.operand(n, i);
      bool const is_last = kept == 0 && i + 1 == n.operands.count;
      if (is_last || !s.made_by(v, primitive::constant) || !s.is_literal(v, 1))
        s.m.links[n.operands.first + kept++] = v;
    }
    n.operands.count = static_cast<id>(kept);
    return no_id;
  }

  // The gradient by one operand is the einsum of the cotangent with the others, summed to the operand's dims. If only
  // this operand has a dim, that dim was summed. Therefore the gradient is broadcast over it again.
  static constexpr void gradient(differentiation& d, node const& n) {
    builder& b = d.b;
    value_id const dy = d.cotangent(b.m.result(n));
    for (int i = 0; i < n.operands.count; ++i) {
      value_id const x = b.m.operand(n, i);
      if (!d.differentiable(x)) continue;
      id_list<> others{};
      others.add(dy);
      shape const dims = b.m.values[x].dims;
      shape alone = without(dims, b.m.values[dy].dims);
      for (int j = 0; j < n.operands.count; ++j) {
        if (j == i) continue;
        others.add(d.forward(b.m.operand(n, j)));
        alone = without(alone, b.m.operand_value(n, j).dims);
      }
      shape const reachable = without(dims, alone);
      value_id term = others.count == 1 && reachable == b.m.values[dy].dims ? dy : einsum(b, others, reachable);
      if (!(reachable == dims)) term = b.add(primitive::broadcast, {term}, b.m.values[x].type, dims);
      d.contribute(x, term);
    }
  }

  template <dtypes Among = dtypes::all()>
  static bool evaluate(evaluation const& e) {
    return with_element<Among>(e.results[0].type, [&]<class E>() { detail::evaluate_einsum_as<E>(e); });
  }
};

/// out[to] = Σ over all other dims of the product of the operands. A dim of `to` that no operand has is an error.
constexpr value_id einsum(builder& b, ids operands, shape const& to) {
  return add_node<einsum_rule>(b, operands, {}, {dtype::f32, to});
}
constexpr value_id einsum(builder& b, value_id x, value_id y, shape const& to) {
  value_id const operands[] = {x, y};
  return einsum(b, operands, to);
}

// ---- public functions ----

namespace detail {

template <dim_type... D, handle... H>
constexpr auto record_einsum(line const& where, to_dims<D...> to, H const&... operands) {
  constexpr dtype type = common_type<H...>();
  if constexpr (!nothing_found<decltype(einsum_finding<H...>(to))>) {
    return given_up<type, dims<D...>>(operands...);
  } else {
    recording r(owner_of(operands...), where);
    value_id const inside[] = {operands.id...};
    shape const result = shape_of(r.b, dims<D...>{});
    if constexpr (sizeof...(H) > 1 && (is_any<typename H::dim_list> || ...)) {
      shape const lone = lone_dims_rule{}(result, r.b.m.values[operands.id].dims...);
      diagnostic d{};
      if (lone.count != 0) r.b.note(d << sums_lone_dims.at << " ('" << r.b.m.dim_name(lone.at[0]) << "')");
    }
    return wrap<type, dims<D...>>(r.b, einsum(r.b, inside, result));
  }
}
/// `einsum` for operations that are composed of it. A shape rule makes the result's dims from the operands' dims and
/// `Lists…`.
template <auto Rule, class... Lists, handle... H>
constexpr auto einsum_by(H const&... operands) {
  builder& b = *owner_of(operands...);
  value_id const inside[] = {operands.id...};
  shape const result = Rule(b.m.values[operands.id].dims..., shape_of(b, Lists{})...);
  return wrap<common_type<H...>(), result_dims_t<Rule, typename H::dim_list..., Lists...>>(b,
                                                                                           einsum(b, inside, result));
}

}  // namespace detail

/// The product of tensors, summed over all dims that the result lacks: `einsum(x, w, to(batch, d_ff))`. Dims are
/// matched by name.
///
/// dims    those of `to`, in its order
/// layout  if a summed dim is sharded over an axis, the result is a partial sum over that axis
/// grad    for each operand, the einsum of the cotangent with all others
/// errors  T01 no operand has a dim of the result; T02 the dtypes differ
/// source  Einstein's sum convention, and Mesh-TensorFlow, arXiv:1811.02084, section 3
template <handle A, dim_type... D>
constexpr auto einsum(A const& a, to_dims<D...> result, detail::einsum_line<to_dims<D...>, A> const& where = {}) {
  return detail::record_einsum(where, result, a);
}
template <handle A, handle B, dim_type... D>
constexpr auto einsum(A const& a, B const& b, to_dims<D...> result,
                      detail::einsum_line<to_dims<D...>, A, B> const& where = {}) {
  return detail::record_einsum(where, result, a, b);
}
template <handle A, handle B, handle C, dim_type... D>
constexpr auto einsum(A const& a, B const& b, C const& c, to_dims<D...> result,
                      detail::einsum_line<to_dims<D...>, A, B, C> const& where = {}) {
  return detail::record_einsum(where, result, a, b, c);
}
template <handle A, handle B, handle C, handle E, dim_type... D>
constexpr auto einsum(A const& a, B const& b, C const& c, E const& e, to_dims<D...> result,
                      detail::einsum_line<to_dims<D...>, A, B, C, E> const& where = {}) {
  return detail::record_einsum(where, result, a, b, c, e);
}
template <handle A, handle B, handle C, handle E, handle F, dim_type... D>
constexpr auto einsum(A const& a, B const& b, C const& c, E const& e, F const& f, to_dims<D...> result,
                      detail::einsum_line<to_dims<D...>, A, B, C, E, F> const& where = {}) {
  return detail::record_einsum(where, result, a, b, c, e, f);
}
template <handle A, handle B, handle C, handle E, handle F, handle G, dim_type... D>
constexpr auto einsum(A const& a, B const& b, C const& c, E const& e, F const& f, G const& g, to_dims<D...> result,
                      detail::einsum_line<to_dims<D...>, A, B, C, E, F, G> const& where = {}) {
  return detail::record_einsum(where, result, a, b, c, e, f, g);
}
template <handle A, handle B, handle C, handle E, handle F, handle G, handle H, dim_type... D>
constexpr auto einsum(A const& a, B const& b, C const& c, E const& e, F const& f, G const& g, H const& h,
                      to_dims<D...> result, line const& where = {}) {
  return detail::record_einsum(where, result, a, b, c, e, f, g, h);
}
/// Rejects a call without `to`, because the summed dims would be unknown.
template <class A, class B = detail::none_given, class C = detail::none_given, class D = detail::none_given>
requires((handle<A> || handle<B> || handle<C> || handle<D>) && !detail::names_dims<A> && !detail::names_dims<B> &&
         !detail::names_dims<C> && !detail::names_dims<D>)
constexpr auto einsum(
    A const& a, B const& b = {}, C const& c = {}, D const& d = {},
    detail::refused_call<"T26 einsum takes tensors and the dims of its result: einsum(x, w, mt::to(a, b))", A, B, C,
                         D> const& = {}) {
  return detail::given_up(a, b, c, d);
}
/// Rejects other libraries' names for einsum.
template <class A, class B = detail::none_given, class C = detail::none_given, class D = detail::none_given>
requires(handle<A> || handle<B> || handle<C> || handle<D>)
constexpr auto matmul(A const& a, B const& b = {}, C const& c = {}, D const& d = {},
                      detail::refused_call<"T35 a product of matrices is einsum(x, w, mt::to(batch, out)): the "
                                           "dim that the result does not name is summed",
                                           A, B, C, D> const& = {}) {
  return detail::given_up(a, b, c, d);
}
/// With more operands, the first four are multiplied first. Their product keeps only the dims that the others and the
/// result need.
template <handle A, handle B, handle C, handle E, handle F, handle G, handle H, handle I, class... More>
constexpr auto einsum(A const& a, B const& b, C const& c, E const& e, F const& f, G const& g, H const& h, I const& i,
                      More const&... more) {
  constexpr auto found = detail::finding_of_many(detail::handles<A, B, C, E, F, G, H, I>{}, detail::among<More>{}...);
  if constexpr (!nothing_found<decltype(found)>) {
    refuse(found);
    return detail::given_up(a);
  } else {
    auto const first =
        detail::einsum_by<detail::needed_rule{}, typename detail::dims_among<F>::type,
                          typename detail::dims_among<G>::type, typename detail::dims_among<H>::type,
                          typename detail::dims_among<I>::type, typename detail::dims_among<More>::type...>(a, b, c, e);
    return einsum(first, f, g, h, i, more...);
  }
}

}  // namespace meshtensor
