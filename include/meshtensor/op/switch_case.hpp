// SPDX-License-Identifier: Apache-2.0
// One of several branches, which an integer chooses.
#pragma once

#include "meshtensor/op/cond.hpp"

namespace meshtensor {
namespace detail {

/// Records branch after branch as loops of at most one iteration. Each starts from the results of the one before, so
/// the results of the last one are those of the branch that ran. `rest` is 1 until a branch was chosen.
template <class S, class Branch, class... More>
constexpr auto record_branches(S const& s, builder& b, dim_id once, value_id index, value_id rest, int number,
                               id_list<> const& before, Branch const& branch, More const&... more) {
  if constexpr (sizeof...(More) == 0) {
    return record_branch(s, b, once, rest, branch, before);
  } else {
    value_id const position = constant(b, number, b.m.values[index].type);
    value_id const chosen = cast(b, elementwise(b, function::equal, index, position), dtype::i64);
    auto const made = record_branch(s, b, once, chosen, branch, before);
    return record_branches(s, b, once, index, subtract(b, rest, chosen), number + 1, made.results, more...);
  }
}

template <class S, class I, class First, class... Branches>
constexpr auto record_switch(S const& s, builder& b, I const& index, First const& first, Branches const&... branches) {
  dim_id const once = dim_of_iterations(b, "switch_case", b.add_number(1));
  value_id const one = constant(b, 1, dtype::i64);
  auto const last = record_branches(s, b, once, b.use(index.id), one, 0, {}, first, branches...);
  updates_of_branch::end_cond(b);
  auto const results = [&]<class... H, std::size_t... K>(std::tuple<H...> const& like, std::index_sequence<K...>) {
    return std::tuple{rewrapped(b, std::get<K>(like), last.results.at[K])...};
  }(as_tuple(last.given), std::make_index_sequence<std::tuple_size_v<decltype(as_tuple(last.given))>>());
  return as_given<std::remove_cvref_t<decltype(last.given)>>(results);
}

/// The first error that the types of a call of `switch_case` show, or `no_error`.
template <class S, class I, class First, class... Branches>
consteval auto switch_finding() {
  if constexpr (!handle<I>)
    return refusal<"T28 the index of switch_case is a tensor: full(s, n, mt::i64) is one for a number", I>{};
  else if constexpr (!of_integer<I>) return refusal<"T02 switch_case: the index is not an integer", I>{};
  else if constexpr (!takes<First, S> || !(takes<Branches, S> && ...))
    return refusal<"T11 each branch of switch_case takes the scope alone: [&](auto scope) {...}", I>{};
  else {
    using A = std::remove_cvref_t<std::invoke_result_t<First const&, S const&>>;
    if constexpr (!is_handles<A>)
      return refusal<"T11 a branch of switch_case returns tensors, several as a tuple", A>{};
    else if constexpr (!(std::is_same_v<A, std::remove_cvref_t<std::invoke_result_t<Branches const&, S const&>>> &&
                         ...))
      return refusal<"T11 the branches of switch_case return different dims or dtypes", A>{};
    else return no_error{};
  }
}

}  // namespace detail

/// Runs one of several branches, which an integer without dims chooses: `switch_case(s / "expert", index, [&](auto
/// scope) {…}, [&](auto scope) {…}, [&](auto scope) {…})`. Branch 0 runs if the index is 0, branch 1 if it is 1, and so
/// on. An index out of range takes the last branch. All branches return the same dims and dtypes.
///
/// layout  results are laid out as their dims imply. In an `each`, the index may differ from one of its indices to
///         another
/// grad    that of the branch that ran
/// errors  T02 and T03: the index is not one integer; T11 the branches return different dims or dtypes
template <scope S, class I, class First, class... Branches>
requires nothing_found<decltype(detail::switch_finding<S, I, First, Branches...>())>
constexpr auto switch_case(S const& s, I const& index, First const& first, Branches const&... branches) {
  builder& b = s.graph_builder();
  auto const here = s.enter();
  detail::recording const r(&b, s.where());
  b.expect(b.m.values[index.id].dims.count == 0,
           "T03 switch_case: the index has dims: in an each over them, every one chooses for itself");
  return detail::record_switch(s, b, index, first, branches...);
}
/// Rejects wrong arguments.
template <scope S, class I, class First, class... Branches,
          class Reason = decltype(detail::switch_finding<S, I, First, Branches...>())>
requires(!nothing_found<Reason>)
MESHTENSOR_REFUSES constexpr auto switch_case(S const& s, I const&, First const&, Branches const&...) {
  static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
  s.graph_builder().give_up();
  return detail::no_result{};
}

}  // namespace meshtensor
