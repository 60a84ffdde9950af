// SPDX-License-Identifier: Apache-2.0
// Branches: one of two regions runs. Each region is a loop of at most one iteration.
#pragma once

#include "meshtensor/graph/updates_of_branch.hpp"
#include "meshtensor/op/control/zeros_around.hpp"
#include "meshtensor/op/while_loop.hpp"

namespace meshtensor {
namespace detail {

/// The handles that a branch returns, and the results of the loop that runs the branch.
template <class Given>
struct recorded_branch {
  Given given;
  id_list<> results;
};

/// Records a branch that runs if `count` is 1. If it is 0, the results are those of `before`, or zeros if there are
/// none.
template <class S, class Branch>
constexpr auto record_branch(S const& s, builder& b, dim_id dim, value_id count, Branch const& branch,
                             id_list<> const& before) {
  site_id const site = b.site;
  b.begin_frame(region_kind::branch, no_id, no_id, true);
  value_id const runs = b.add_carry(count);
  auto const given = branch(s);
  id_list<> const made = ids_of(as_tuple(given));
  bool const is_second = before.count == made.count;
  id_list<> carries{}, gives{}, results{};
  carries.add(count), gives.add(runs);
  for (int i = 0; i < made.count; ++i) {
    value_id v = b.use(made.at[i]);
    if (is_second) v = aligned(b, v, b.m.values[before.at[i]].dims, "the other branch of cond", "the first one");
    gives.add(v), carries.add(is_second ? before.at[i] : zeros_around(b, v));
    b.add_carry(carries.at[carries.count - 1]);
  }
  updates_of_branch const updates(b);
  for (int i = 0; i < updates.starts.count; ++i) b.add_carry(updates.starts.at[i]);
  carries.add_all(updates.starts), gives.add_all(updates.next);
  frame const f = b.end_frame(gives);
  b.site = site;
  node_id const n = add_counted_loop(b, dim, carries, f);
  for (int i = 1; i < carries.count; ++i) {
    value const like = b.m.values[carries.at[i]];
    value_id const result = b.add_result(n, like.type, like.dims);
    if (i <= made.count) results.add(result);
  }
  updates.hand_on(n, 1 + made.count);
  return recorded_branch<std::remove_cvref_t<decltype(given)>>{given, results};
}

/// Records the two branches as loops, one after the other. The second loop starts from the results of the first one.
/// Therefore its results are those of the branch that ran.
template <class S, class Then, class Otherwise>
constexpr auto record_cond(S const& s, builder& b, value_id predicate, Then const& then, Otherwise const& otherwise) {
  dim_id const once = dim_of_iterations(b, "cond", b.add_number(1));
  value_id const go = cast(b, b.use(predicate), dtype::i64);
  value_id const stays = subtract(b, {constant(b, 1, dtype::i64), go});
  auto const yes = record_branch(s, b, once, go, then, {});
  auto const no = record_branch(s, b, once, stays, otherwise, yes.results);
  updates_of_branch::end_cond(b);
  using Given = std::remove_cvref_t<decltype(yes.given)>;
  auto const results = [&]<class... H, std::size_t... I>(std::tuple<H...> const& like, std::index_sequence<I...>) {
    return std::tuple{rewrapped(b, std::get<I>(like), no.results.at[I])...};
  }(as_tuple(yes.given), std::make_index_sequence<std::tuple_size_v<decltype(as_tuple(yes.given))>>());
  return as_given<Given>(results);
}

/// The first error that the types of a call of `cond` show, or `no_error`.
template <class S, class P, class Then, class Otherwise>
consteval auto cond_finding() {
  if constexpr (std::is_same_v<P, no_bool>) return no_error{};  // the comparison of numbers is refused already
  else if constexpr (!handle<P>)
    return refusal<"T28 the predicate of cond is a tensor: full(s, n, mt::f64) > 0 compares a number", P>{};
  else if constexpr (!of_bool<P>) return refusal<"T02 cond: the predicate is not a bool", P>{};
  else if constexpr (!takes<Then, S> || !takes<Otherwise, S>)
    return refusal<"T11 each branch of cond takes the scope alone: [&](auto scope) {...}", P>{};
  else {
    using A = std::remove_cvref_t<std::invoke_result_t<Then const&, S const&>>;
    using B = std::remove_cvref_t<std::invoke_result_t<Otherwise const&, S const&>>;
    if constexpr (!is_handles<A> || !is_handles<B>)
      return refusal<
          "T11 a branch of cond returns tensors, several as a tuple, as full(s, 0, mt::f32) is for the number "
          "0",
          A, B>{};
    else if constexpr (!std::is_same_v<A, B>)
      return refusal<"T11 the branches of cond return different dims or dtypes", A, B>{};
    else return no_error{};
  }
}

}  // namespace detail

/// Runs one of two branches, which a bool without dims chooses: `cond(s / "sign", sum(x) > 0, [&](auto scope) {…},
/// [&](auto scope) {…})`. Both return the same dims and dtypes.
///
/// layout  results are laid out as their dims imply. All ranks run the same branch, because each rank has the whole
///         bool
/// grad    that of the branch that ran
/// errors  T02 and T03: the predicate is not one bool; T11 the branches return different dims or dtypes
template <scope S, class P, class Then, class Otherwise>
constexpr auto cond(S const& s, P const& predicate, Then const& then, Otherwise const& otherwise,
                    checked_line<decltype(detail::cond_finding<S, P, Then, Otherwise>())> const& where = {}) {
  builder& b = s.graph_builder();
  if constexpr (!handle<P> || !nothing_found<decltype(detail::cond_finding<S, P, Then, Otherwise>())>) {
    b.give_up();
    if constexpr (detail::takes<Then, S>) return then(s);
    else return tensor<dtype::f32>(&b, value_id{});
  } else {
    auto const here = s.enter();
    detail::recording const r(&b, where);
    b.expect(b.m.values[predicate.id].dims.count == 0, "T03 cond: the predicate has dims: reduce it with any or all");
    return detail::record_cond(s, b, predicate.id, then, otherwise);
  }
}

/// Rejects a call without a scope.
template <class P, class Then, class Otherwise>
requires(!scope<P> && !scope<Then>)
constexpr auto cond(P const&, Then const&, Otherwise const&,
                    detail::refused_call<"T17 cond takes a scope first: mt::cond(s / \"sign\", sum(x) > 0, "
                                         "[&](auto scope) {...}, [&](auto scope) {...})",
                                         P> const& = {}) {
  return detail::no_result{};
}

}  // namespace meshtensor
