// SPDX-License-Identifier: Apache-2.0
// Wraps a C++ function over spans as an operation, legal under every layout that does not shard the function's dims.
#pragma once

#include "meshtensor/graph/differentiation.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/detail/call_loop.hpp"

namespace meshtensor {

struct call_rule {
  static constexpr primitive kind = primitive::call;
  static constexpr declaration declares{.operands = {1, 4}, .attributes = {{attribute_kind::call}}};
  static constexpr void infer(inference& i) {
    call_row const& c = i.m->calls[call_attributes::of(i.attributes).call];
    shape kept{};
    for (int k = 0; k < i.count; ++k) kept = united(kept, without(i.dims_of(k), c.whole));
    i.give(i.type, united(kept, c.gives));
  }
  static constexpr meshtensor::sharding sharding(module const& m, node const& n) {
    call_row const& c = m.calls[call_of(n)];
    return meshtensor::sharding{}.keeps_whole(c.whole).keeps_whole(c.gives);
  }
  /// Reports G30, because this rule is used only if the operation has no gradient of its own. Otherwise the composite
  /// around the call supplies the gradient (record_composite).
  static constexpr void gradient(differentiation& d, node const& n) {
    for (int k = 0; k < n.operands.count; ++k)
      if (diagnostic none{}; d.differentiable(d.b.m.operand(n, k)))
        return d.b.note(none << "G30 the operation '" << d.b.m.names[d.b.m.calls[call_of(n)].label]
                             << "' has no gradient: give it one, or end differentiation before it with stop_gradient");
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    call_row const& c = e.m.calls[call_of(e.n)];
    c.run(e, 0, c.parts(e));
  }
};

namespace detail {

constexpr shape called_rule(shape const& kept, shape const& gives) { return united(kept, gives); }
/// The dims that the result keeps of the operands so far and of one more operand. Dims of `whole` are left out of each
/// operand, because all operands together may have more dims than a shape holds.
constexpr shape kept_rule(shape const& kept, shape const& operand, shape const& whole) {
  return united(kept, without(operand, whole));
}

template <class Operation>
concept names_whole_dims = requires { Operation::whole; };
template <class Operation>
concept names_given_dims = requires { Operation::gives; };
template <class Operation>
concept names_a_type = requires { Operation::type; };

template <class... D>
constexpr auto list_of(to_dims<D...>) {
  return dims<D...>{};
}
template <class Operation>
constexpr auto whole_dims() {
  if constexpr (names_whole_dims<Operation>) return list_of(Operation::whole);
  else return dims<>{};
}
template <class Operation>
constexpr auto given_dims_of() {
  if constexpr (names_given_dims<Operation>) return list_of(Operation::gives);
  else return dims<>{};
}
template <class Operation>
constexpr library_call library_call_of() {
  if constexpr (requires { requires std::is_same_v<decltype(Operation::library), library_call const>; })
    return Operation::library;
  else return library_call::none;
}
/// The name of an operation in errors and in the fingerprint of a program: that of its type, or its own `label`.
template <class Operation>
constexpr name label_of_call() {
  if constexpr (requires { requires std::is_same_v<decltype(Operation::label), name const>; }) return Operation::label;
  else return type_name<Operation>();
}
template <class Operation, dtype First>
constexpr dtype type_of_call() {
  if constexpr (names_a_type<Operation>) return Operation::type;
  else return First;
}

/// Whether the function accepts spans of these elements.
template <class Operation, dtype R, dtype... T>
concept runs_on = requires(call_extents const& extent, std::span<element_t<T> const>... x, std::span<element_t<R>> y) {
  Operation::run(x..., y);
} || requires(call_extents const& extent, std::span<element_t<T> const>... x, std::span<element_t<R>> y) {
  Operation::run(extent, x..., y);
};

/// The dims that the result keeps of operands with the given lists of dims, after those of `Kept`.
template <class Whole, class Kept, class... Lists>
struct kept_dims {
  using type = Kept;
};
template <class Whole, class Kept, class First, class... Rest>
struct kept_dims<Whole, Kept, First, Rest...>
    : kept_dims<Whole, result_dims_t<kept_rule, Kept, First, Whole>, Rest...> {};

template <class Operation, class... H>
constexpr auto record_call(H const&... operands) {
  builder& b = *owner_of(operands...);
  constexpr dtype first = nth<0, H...>::type::type, type = type_of_call<Operation, first>();
  using whole = decltype(whole_dims<Operation>());
  using gives = decltype(given_dims_of<Operation>());
  name_id const label = b.intern(label_of_call<Operation>());
  shape const w = shape_of(b, whole{}), g = shape_of(b, gives{});
  for (int i = 0; i < g.count && (is_any<typename H::dim_list> || ...); ++i)  // else the types have been checked
    b.expect(w.has(g.at[i]) || !(b.m.values[operands.id].dims.has(g.at[i]) || ...),
             "T03 call: the operation gives a dim that an operand has, without naming it in `whole`");
  auto const run = &run_call<Operation, type, H::type...>;
  int row = 0;
  while (row < b.m.call_count && b.m.calls[row].run != run) ++row;
  if (row == b.m.call_count) {
    if (!b.expect(row < max_calls, "G32 a program calls at most 64 different operations of its own"))
      row = --b.m.call_count;
    b.m.calls[b.m.call_count++] = {label, library_call_of<Operation>(), w, g, run, &parts_of_call};
  }
  value_id const given[] = {operands.id...};
  value_id const v = add_node<call_rule>(b, given, call_attributes{static_cast<id>(row)}.packed(), {type});
  using kept = typename kept_dims<whole, dims<>, typename H::dim_list...>::type;
  return wrap<type, result_dims_t<called_rule, kept, gives>>(b, v);
}

template <class Operation, dtype R, dtype... T>
constexpr void check_call() {
  static_assert(runs_on<Operation, R, T...>,
                "meshtensor T14: call: `run` of the operation takes a std::span<element const> for each operand and a "
                "std::span<element> for the result");
}
template <class... H, class... W>
constexpr void check_whole(dims<W...>) {
  (
      []<class D>() {
        static_assert((has_dim<H, D> || ...),
                      "meshtensor T01: call: no operand has a dim that the operation names in "
                      "`whole`");
      }.template operator()<W>(),
      ...);
}

template <class... H, class... G, class... W>
constexpr void check_gives(dims<G...>, [[maybe_unused]] dims<W...> whole) {
  (
      []<class D>(auto) {
        static_assert(
            has_dim_v<dims<W...>, D> || ((is_any<typename H::dim_list> || !has_dim_v<typename H::dim_list, D>) && ...),
            "meshtensor T03: call: the operation gives a dim that an operand has, without naming it in `whole`");
      }.template operator()<G>(whole),
      ...);
}

template <class Operation, class... H>
constexpr auto checked_call(line const& where, H const&... operands) {
  constexpr dtype type = type_of_call<Operation, nth<0, H...>::type::type>();
  check_call<Operation, type, H::type...>();
  check_whole<H...>(whole_dims<Operation>());
  check_gives<H...>(given_dims_of<Operation>(), whole_dims<Operation>());
  recording r(owner_of(operands...), where);
  if constexpr (!runs_on<Operation, type, H::type...>) {
    return std::get<0>(std::tuple(operands...));
  } else {
    auto const body = [](H const&... x) { return record_call<Operation>(x...); };
    using result = decltype(body(operands...));
    if constexpr (requires(H const&... x, result const& y) { Operation::gradient(x..., y, y); })
      return record_composite(
          r.b, type_name<Operation>(), body, [](auto const&... all) { return Operation::gradient(all...); },
          operands...);
    else return body(operands...);
  }
}

}  // namespace detail

/// Wraps your own C++ function as an operation of the graph: `auto y = mt::call<running_sum>(x);`
///
///     struct running_sum {
///       static constexpr auto whole = mt::to(time);    // dims that the function sees whole: never sharded
///       static constexpr auto gives = mt::to(time);    // dims of the result in their place
///       static void run(std::span<float const> x, std::span<float> y) {
///         std::partial_sum(x.begin(), x.end(), y.begin());
///       }
///       static constexpr auto gradient(auto x, auto y, auto dy) { return mt::call<running_sum_backwards>(dy); }
///     };
///
/// Several threads call `run`, each for other points of the other dims. Therefore its result must depend on its
/// operands alone. A span has the elements along the dims of `whole`, in the order of `whole`. If an operand lacks some
/// of these dims, its span has the elements along the others. Without `whole` and `gives` the operation is elementwise,
/// so spans have equal but arbitrary length. `run` may take extents as its first argument: in `run(auto extent,
/// std::span<float const> x, std::span<float> y)`, `extent(time)` is the extent of `time`.
///
/// dims    those of the operands without `whole`, then `gives`
/// layout  dims of `whole` and `gives` must not be sharded. If they are, they are gathered first
/// grad    `gradient(operands…, result, cotangent)` returns the operands' cotangents, several as a tuple. Without it,
///         differentiation through the call is an error, G30
/// errors  T01 no operand has a dim of `whole`; T14 `run` does not take these spans
template <class Operation, handle A>
constexpr auto call(A const& a, line const& where = {}) {
  return detail::checked_call<Operation>(where, a);
}
template <class Operation, handle A, handle B>
constexpr auto call(A const& a, B const& b, line const& where = {}) {
  return detail::checked_call<Operation>(where, a, b);
}
template <class Operation, handle A, handle B, handle C>
constexpr auto call(A const& a, B const& b, C const& c, line const& where = {}) {
  return detail::checked_call<Operation>(where, a, b, c);
}
template <class Operation, handle A, handle B, handle C, handle D>
constexpr auto call(A const& a, B const& b, C const& c, D const& d, line const& where = {}) {
  return detail::checked_call<Operation>(where, a, b, c, d);
}

}  // namespace meshtensor
