// SPDX-License-Identifier: Apache-2.0
// The type of the result of a call, and the errors that the types of a call show.
#pragma once

#include <cstdint>
#include <span>

#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/detail/call_loop.hpp"
#include "meshtensor/op/detail/record.hpp"

namespace meshtensor::detail {

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

/// The result of a call.
template <class Operation, class... H>
using called_t =
    handle_t<type_of_call<Operation, nth<0, H...>::type::type>(),
             result_dims_t<called_rule,
                           typename kept_dims<decltype(whole_dims<Operation>()), dims<>, typename H::dim_list...>::type,
                           decltype(given_dims_of<Operation>())>>;

/// Whether the function is a member of objects of the operation, and would accept spans of these elements.
template <class Operation, dtype R, dtype... T>
concept runs_as_member = requires(Operation& o, std::span<element_t<T> const>... x, std::span<element_t<R>> y) {
  o.run(x..., y);
} || requires(Operation& o, call_extents const& extent, std::span<element_t<T> const>... x, std::span<element_t<R>> y) {
  o.run(extent, x..., y);
};

/// Whether the function takes so many operands, all with the elements of the first one.
template <class Operation, dtype R, dtype First, std::size_t... I>
consteval bool runs_on_as_many(std::index_sequence<I...>) {
  return runs_on<Operation, R, (static_cast<void>(I), First)...>;
}
/// The number of operands, at most 4, that the function takes in place of those that it gets. 0 if none fits.
template <class Operation, dtype R, dtype First>
consteval int operands_of_run() {
  return []<std::size_t... N>(std::index_sequence<N...>) {
    int count = 0;
    ((count =
          runs_on_as_many<Operation, R, First>(std::make_index_sequence<N + 1>{}) ? static_cast<int>(N + 1) : count),
     ...);
    return count;
  }(std::make_index_sequence<4>{});
}

/// The error sentence of a call whose function does not take its operands.
template <class Operation, dtype R, class... H>
inline constexpr type_finding wrong_run = [] {
  constexpr int taken = operands_of_run<Operation, R, nth<0, H...>::type::type>();
  diagnostic d{};
  d << "T14 call: `run` of '" << label_of_call<Operation>();
  if constexpr (runs_as_member<Operation, R, H::type...>) d << "' is not static: write static void run(...)";
  else if constexpr (taken != 0 && taken != sizeof...(H))
    d << "' takes " << taken << " operands, but the call has " << static_cast<int>(sizeof...(H));
  else
    d << "' takes other arguments than a std::span<element const> for each operand and a std::span<element> for the "
         "result";
  int count = 0;
  ((void)(add_fact<H>(d << (count++ == 0 ? " (" : ", "))), ...);
  d << ")";
  return type_finding{d};
}();

template <class... D, class... H>
consteval bool all_are_held(dims<D...>, H const*...) {
  return ([]<class One>(One const*) { return (has_dim<H, One> || ...); }(static_cast<D const*>(nullptr)) && ...);
}
/// Whether an operand keeps none of the given dims, as far as types tell.
template <class Whole, class... D, class... H>
consteval bool none_is_kept(dims<D...>, H const*...) {
  return ([]<class One>(One const*) {
    return has_dim_v<Whole, One> || ((is_any<typename H::dim_list> || !has_dim_v<typename H::dim_list, One>) && ...);
  }(static_cast<D const*>(nullptr)) &&
          ...);
}

/// The first error that the types of a call show, or `no_error`.
template <class Operation, handle... H>
consteval auto call_finding() {
  constexpr dtype type = type_of_call<Operation, nth<0, H...>::type::type>();
  using whole = decltype(whole_dims<Operation>());
  if constexpr (!runs_on<Operation, type, H::type...>) return error_of<wrong_run<Operation, type, H...>>();
  else if constexpr (!all_are_held(whole{}, static_cast<H const*>(nullptr)...))
    return refusal<"T01 call: no operand has a dim that the operation names in `whole`", H...>{};
  else if constexpr (!none_is_kept<whole>(given_dims_of<Operation>(), static_cast<H const*>(nullptr)...))
    return refusal<"T03 call: the operation gives a dim that an operand has, without naming it in `whole`", H...>{};
  else return no_error{};
}
/// The line of a call. It refuses the call if the types show an error.
template <class... A>
using call_line = checked_line<decltype(call_finding<A...>())>;

}  // namespace meshtensor::detail
