// SPDX-License-Identifier: Apache-2.0
// stack and unstack: join several tensors along a new dim, and take them apart.
#pragma once

#include <tuple>
#include <utility>

#include "meshtensor/op/gather.hpp"

namespace meshtensor {

struct stack_attributes {
  dim_id dim;  // the new dim

  static constexpr stack_attributes of(id const* slots) { return {static_cast<dim_id>(slots[0])}; }
  static constexpr stack_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{dim}}; }
};

struct stack_rule {
  static constexpr primitive kind = primitive::stack;
  static constexpr declaration declares{
      .operands = {1, inference::most_operands}, .attributes = {{attribute_kind::dim}}, .text = "along {0}"};
  static constexpr void infer(inference& i) {
    unsigned const all = (1u << i.count) - 1u;
    shape const dims = i.united_dims();
    dtype const type = i.common_type();
    dim_id const dim = stack_attributes::of(i.attributes).dim;
    i.expect(!dims.has(dim), "T03 stack: a tensor already has the new dim", all, 1);
    i.give(type, led_by(dim, dims));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return meshtensor::sharding{}.keeps_whole(stack_attributes::of(n).dim).passes_partial(linearity::joint);
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const dy = d.cotangent(d.b.m.result(n));
    for (int k = 0; k < n.operands.count; ++k) {
      value_id const x = d.b.m.operand(n, k);
      if (!d.differentiable(x)) continue;
      value_id const row =
          gather(d.b, dy, constant(d.b, k, dtype::i64), stack_attributes::of(n).dim, {}, looks_into::whole_table);
      d.contribute(x, sum_to(d.b, row, d.b.m.values[x].dims));
    }
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const& y = e.results[0];
    int const along = y.find(stack_attributes::of(e.n).dim);
    view row = y;
    row.extent[along] = 1;
    for (int k = 0; k < e.n.operands.count; ++k)
      detail::copy_by_name(e.operands[k], 0, row, k * y.stride[along], no_id, no_id, row.extent);
  }
};

constexpr value_id stack(builder& b, ids operands, dim_id dim) {
  return add_node<stack_rule>(b, operands, stack_attributes{dim}.packed());
}

namespace detail {
/// The tensors of an argument of a rejected call.
template <class T>
constexpr auto as_list(T const& t) {
  if constexpr (handle<T>) return std::tuple(t);
  else if constexpr (is_several<T>) return t;
  else return std::tuple();
}
}  // namespace detail

// ---- public functions ----

namespace detail {
template <dim_type D, handle... H>
consteval auto stack_finding() {
  constexpr std::size_t count = sizeof...(H);
  if constexpr (count == 0 || count > inference::most_operands)
    return refusal<"T09 stack takes one to eight tensors", H...>{};
  else if constexpr (D::dim_rule.kind != extent_rule::fixed || D::dim_rule.value != static_cast<std::int64_t>(count))
    return refusal<"T05 stack: the extent of the new dim is not the number of tensors", D>{};
  else return rule_finding<stack_rule, dims<D>, H...>();
}
template <std::size_t, class H>
struct one_of_many {
  using type = H;
};
template <dim_type D, handle H, std::size_t N>
consteval auto stack_of_list() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return stack_finding<D, typename one_of_many<I, H>::type...>();
  }(std::make_index_sequence<N>{});
}
template <handle H, dim_type D>
consteval auto unstack_finding() {
  if constexpr (D::dim_rule.kind != extent_rule::fixed)
    return refusal<"T05 unstack takes a dim whose type says its extent", D>{};
  else return rule_finding<gather_rule, dims<D>, H, tensor<dtype::i64>>();
}
}  // namespace detail

/// Stacks up to eight tensors along a new dim, whose extent is their number: `stack(std::tuple(x, y), pair)`, or
/// `stack({x, y}, pair)` if they have the same type.
///
/// dims    the new dim, then those of the tensors. Dims that one of them lacks are broadcast
/// layout  the new dim is not sharded in the result
/// grad    the slices of the cotangent
/// errors  T02 the dtypes differ; T03 a tensor has the dim already; T05 the dim has another extent; T09 more than eight
template <handle... H, dim_type D>
constexpr auto stack(std::tuple<H...> const& all, D along,
                     checked_line<decltype(detail::stack_finding<D, H...>())> const& where = {}) {
  return std::apply(
      [&](H const&... x) {
        if constexpr (!nothing_found<decltype(detail::stack_finding<D, H...>())>) {
          return detail::given_up(x...);
        } else {
          return detail::record<stack_rule, D>(
              where,
              [&](builder& b) {
                value_id const inside[] = {x.id...};
                return stack(b, inside, detail::dim_of(b, along));
              },
              x...);
        }
      },
      all);
}
template <handle H, std::size_t N, dim_type D>
constexpr auto stack(H const (&all)[N], D along,
                     checked_line<decltype(detail::stack_of_list<D, H, N>())> const& where = {}) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (!nothing_found<decltype(detail::stack_of_list<D, H, N>())>) return detail::given_up(all[0]);
    else return stack(std::tuple(all[I]...), along, where);
  }(std::make_index_sequence<N>{});
}
/// Rejects tensors that are not in one argument, and a position in the place of a dim.
template <detail::argument A, detail::argument B = detail::none_given, detail::argument C = detail::none_given,
          detail::argument D = detail::none_given, detail::argument E = detail::none_given>
requires((handle<A> || handle<B> || detail::is_several<A>) && !(detail::is_several<A> && dim_type<B>))
constexpr auto stack(A const& a, B const& b = {}, C const& c = {}, D const& d = {}, E const& e = {},
                     detail::refused_call_with<detail::code_if<detail::is_several<A>, "T25", "T37">,
                                               "stack takes a list of tensors, then the new dim, whose extent is their "
                                               "number: stack({x, y}, pair), or stack(std::tuple(x, y), pair)",
                                               A, B, C, D, E> const& = {}) {
  return std::apply([](auto const&... all) { return detail::given_up(all...); },
                    std::tuple_cat(detail::as_list(a), detail::as_list(b), detail::as_list(c), detail::as_list(d),
                                   detail::as_list(e)));
}

/// Splits a tensor into its slices along a dim, as a tuple: `auto [x, y] = unstack(both, pair)`.
///
/// dims    those of `x` without the dim
/// layout  a sharded dim is gathered first
/// grad    the cotangents, each at its position
/// errors  T01 `x` lacks the dim; T05 the dim's extent is not known to the compiler
template <handle H, dim_type D>
constexpr auto unstack(H const& x, D along, checked_line<decltype(detail::unstack_finding<H, D>())> const& where = {}) {
  constexpr bool is_refused = !nothing_found<decltype(detail::unstack_finding<H, D>())>;
  auto const slice_at = [&](std::size_t i) {
    if constexpr (is_refused) return detail::given_up(x);
    else
      return detail::record<gather_rule, D>(
          where,
          [&](builder& b) {
            value_id const position = constant(b, static_cast<double>(i), dtype::i64);
            return gather(b, x.id, position, detail::dim_of(b, along), {}, looks_into::whole_table);
          },
          x, tensor<dtype::i64>(x.owner, x.id));
  };
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{slice_at(I)...};
  }(std::make_index_sequence<D::dim_rule.kind == extent_rule::fixed ? static_cast<std::size_t>(D::dim_rule.value)
                                                                    : 2>{});
}

}  // namespace meshtensor
