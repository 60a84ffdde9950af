// SPDX-License-Identifier: Apache-2.0
// Reductions along named dims.
#pragma once

#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/detail/extent_product.hpp"
#include "meshtensor/op/reduce/call_errors.hpp"
#include "meshtensor/op/reduce/loops.hpp"

namespace meshtensor {

constexpr value_id reduce(builder& b, reduction kind, value_id x, shape const& along);

struct reduce_rule : reduce_loops {
  static constexpr primitive kind = primitive::reduce;
  static constexpr declaration declares{.functions = 4, .fusion = fusion_role::reduction, .work = work_kind::sum};
  static constexpr void infer(inference& i) {
    i.expect(i.function != 0, "T41 a reduction of an unknown kind");
    i.expect(common(i.dims_of(0), i.dims) == i.dims, "T01 a reduction keeps dims of its operand, in their order", 1);
    i.give(i[0].type, i.dims);
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    auto const how = static_cast<reduction>(n.function);
    return meshtensor::sharding{}.contracted(how).passes_partial(linearity::separate, meshtensor::sharding::kind(how));
  }
  static constexpr std::int64_t flops(module const& m, node const& n, auto const& extents) {
    return extents.local_size(m.operand_value(n, 0));
  }

  // max and min divide the cotangent among all elements that equal the result, so that the sum of the gradients is the
  // cotangent.
  static constexpr void gradient(differentiation& d, node const& n) {
    builder& b = d.b;
    value_id const x = b.m.operand(n, 0), y = b.m.result(n), dy = d.cotangent(y);
    if (!d.differentiable(x)) return;
    shape const dims = b.m.values[x].dims;
    if (static_cast<reduction>(n.function) == reduction::sum) return d.contribute(x, broadcast(b, dy, dims));
    dtype const type = b.m.values[dy].type;
    value_id const hit = cast(b, elementwise(b, function::equal, {d.forward(x), d.forward(y)}), type);
    value_id const hits = reduce(b, reduction::sum, hit, without(dims, b.m.values[y].dims));
    d.contribute(x, multiply(b, hit, divide(b, dy, hits)));
  }
};

/// The sum, maximum or minimum of `x` along `dims`. `any` is the max of bools, and `all` is their min.
constexpr value_id reduce(builder& b, reduction kind, value_id x, shape const& along) {
  value const& v = b.m.values[x];
  if (shape const absent = without(along, v.dims); absent.count != 0) {
    diagnostic d{};
    d << "T01 " << text_of(kind) << ": there is no dim '" << b.m.dim_name(absent.at[0]) << "' in ";
    b.note(add_type(d, b.m, v.type, v.dims) << ", which is to be reduced along it");
  }
  return add_node<reduce_rule>(b, {x}, {}, {v.type, without(v.dims, along)}, static_cast<std::uint8_t>(kind));
}

constexpr value_id mean(builder& b, value_id x, shape const& along) {
  if (along.count == 0) return x;
  value_id const total = reduce(b, reduction::sum, x, along);
  return divide(b, total, constant(b, number::of_row(&b, extent_product(b, along)), b.m.values[x].type));
}

// ---- public functions ----

namespace detail {

constexpr shape without_rule(shape const& x, shape const& along) { return without(x, along); }

/// The dims of a reduction's result. If no dim is named, all are reduced.
template <class H, class List>
struct reduced_dims {
  using type = result_dims_t<without_rule, typename H::dim_list, List>;
};
template <class H>
struct reduced_dims<H, dims<>> {
  using type = dims<>;
};

template <class>
inline constexpr std::size_t dim_count_of = max_dims_of_one;
template <class... D>
inline constexpr std::size_t dim_count_of<dims<D...>> = sizeof...(D);

/// Records the value that `make` returns for the dims of the list, or for all dims. A refused call records nothing.
template <class Call, handle H, class... D>
constexpr auto record_reduce(H const& x, dims<D...> list, line const& where, auto make) {
  if constexpr (nothing_found<decltype(reduction_finding<Call, H>(list))>) {
    recording r(x.owner, where);
    shape const along = sizeof...(D) == 0 ? r.b.m.values[x.id].dims : shape_of(r.b, dims<D...>{});
    value_id const v = along.count == 0 ? x.id : make(r.b, along);
    return wrap<H::type, typename reduced_dims<H, dims<D...>>::type>(r.b, v);
  } else if constexpr ((dim_type<D> && ...) && sizeof...(D) < dim_count_of<typename H::dim_list>) {
    return given_up<H::type, typename reduced_dims<H, dims<D...>>::type>(x);
  } else {
    return given_up<H::type, dims<>>(x);
  }
}

template <reduction Kind>
constexpr auto reducing(value_id x) {
  return [x](builder& b, shape const& s) { return reduce(b, Kind, x, s); };
}

}  // namespace detail

/// The sum of `x` along one to four dims: `sum(x, heads, d_head)`. If no dim is named, it is the sum along all of them.
///
/// dims    those of `x` that are not named
/// layout  if a named dim is sharded over an axis, the result is a partial sum over that axis until an operation needs
///         it reduced
/// grad    the cotangent, broadcast along the named dims
/// errors  T01 `x` lacks a dim; T04 `x` is bool
template <handle H, class A = detail::no_dim, class B = detail::no_dim, class C = detail::no_dim,
          class D = detail::no_dim>
constexpr auto sum(H const& x, A = {}, B = {}, C = {}, D = {},
                   detail::reduction_line<detail::sum_call, H, A, B, C, D> const& where = {}) {
  return detail::record_reduce<detail::sum_call>(x, detail::given_dims<A, B, C, D>{}, where,
                                                 detail::reducing<reduction::sum>(x.id));
}

/// The mean along dims: the sum divided by the number of elements. Otherwise like `sum`.
template <handle H, class A = detail::no_dim, class B = detail::no_dim, class C = detail::no_dim,
          class D = detail::no_dim>
constexpr auto mean(H const& x, A = {}, B = {}, C = {}, D = {},
                    detail::reduction_line<detail::mean_call, H, A, B, C, D> const& where = {}) {
  return detail::record_reduce<detail::mean_call>(x, detail::given_dims<A, B, C, D>{}, where,
                                                  [&](builder& b, shape const& s) { return mean(b, x.id, s); });
}

/// The maximum along dims, which are named as for `sum`. It is nan if any element is nan. The elementwise maximum of
/// two tensors is `maximum(a, b)`.
///
/// grad    the cotangent, divided among all elements that equal the result
template <handle H, class A = detail::no_dim, class B = detail::no_dim, class C = detail::no_dim,
          class D = detail::no_dim>
constexpr auto max(H const& x, A = {}, B = {}, C = {}, D = {},
                   detail::reduction_line<detail::max_call, H, A, B, C, D> const& where = {}) {
  return detail::record_reduce<detail::max_call>(x, detail::given_dims<A, B, C, D>{}, where,
                                                 detail::reducing<reduction::max>(x.id));
}

/// Rejects `max` of a number and a tensor, because it is the name of a reduction.
template <number_like A, handle H>
constexpr auto max(A const&, H const& x,
                   detail::refused_call<"T35 max is a reduction, max(x, vocab); of two operands there "
                                        "is maximum(a, b)",
                                        A, H> const& = {}) {
  return detail::given_up(x);
}

/// The minimum along dims. Otherwise like `max`.
template <handle H, class A = detail::no_dim, class B = detail::no_dim, class C = detail::no_dim,
          class D = detail::no_dim>
constexpr auto min(H const& x, A = {}, B = {}, C = {}, D = {},
                   detail::reduction_line<detail::min_call, H, A, B, C, D> const& where = {}) {
  return detail::record_reduce<detail::min_call>(x, detail::given_dims<A, B, C, D>{}, where,
                                                 detail::reducing<reduction::min>(x.id));
}

/// Rejects `min` of a number and a tensor, because it is the name of a reduction.
template <number_like A, handle H>
constexpr auto min(A const&, H const& x,
                   detail::refused_call<"T35 min is a reduction, min(x, vocab); of two operands there "
                                        "is minimum(a, b)",
                                        A, H> const& = {}) {
  return detail::given_up(x);
}

/// Whether any element along dims is true.
template <handle H, class A = detail::no_dim, class B = detail::no_dim, class C = detail::no_dim,
          class D = detail::no_dim>
constexpr auto any(H const& x, A = {}, B = {}, C = {}, D = {},
                   detail::reduction_line<detail::any_call, H, A, B, C, D> const& where = {}) {
  return detail::record_reduce<detail::any_call>(x, detail::given_dims<A, B, C, D>{}, where,
                                                 detail::reducing<reduction::max>(x.id));
}

/// Whether all elements along dims are true.
template <handle H, class A = detail::no_dim, class B = detail::no_dim, class C = detail::no_dim,
          class D = detail::no_dim>
constexpr auto all(H const& x, A = {}, B = {}, C = {}, D = {},
                   detail::reduction_line<detail::all_call, H, A, B, C, D> const& where = {}) {
  return detail::record_reduce<detail::all_call>(x, detail::given_dims<A, B, C, D>{}, where,
                                                 detail::reducing<reduction::min>(x.id));
}

}  // namespace meshtensor
