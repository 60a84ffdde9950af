// SPDX-License-Identifier: Apache-2.0
// Loops that end when a condition no longer holds.
#pragma once

#include <concepts>

#include <optional>

#include "meshtensor/op/control.hpp"
#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/rematerialize.hpp"

namespace meshtensor {

/// The maximum number of iterations of a `while_loop`: a number that is known before the first step, so that memory can
/// be planned.
struct at_most {
  number limit;
  line where;
  std::optional<int> recomputed_at_once;  // iterations, for the gradient. If empty, all their values are saved
  constexpr explicit at_most(number const& n, line const& written = {}) : limit(n), where(written) {}

  /// Saves only the carries at the start of each group of `iterations` iterations. The backward loop runs each group
  /// again before it goes through it. For example, `at_most(1024).recomputing(32)` saves 32 carries, and then the
  /// values that 32 iterations need, instead of those that 1,024 need. This takes about a third more arithmetic.
  /// Results are bit-equal, random numbers included. However, sums over iterations, in gradients, are made in as many
  /// parts as there are groups.
  ///
  /// errors  G38 the limit is no literal, or no multiple of `iterations`
  /// source  Griewank and Walther, Evaluating Derivatives, chapter 12: two levels of checkpoints
  constexpr at_most recomputing(int iterations) const {
    at_most again = *this;
    again.recomputed_at_once = iterations;
    return again;
  }
};

namespace detail {

/// A dim of the library's own for the iterations of a loop that may end early: `while_loop/3`.
constexpr dim_id dim_of_iterations(builder& b, char const* what, number_id most) {
  diagnostic label{};
  label << what << "/" << b.m.dim_count;
  number_row const& n = b.m.numbers[most];
  dim_row row{dim_row::counted, b.intern(name::of(label.view())), no_id, no_id, static_cast<std::int64_t>(most)};
  if (n.kind == number_row::literal && n.value.real >= 1 && n.value.real <= 0x1p53)
    row.kind = dim_row::fixed, row.value = static_cast<std::int64_t>(n.value.real);
  return b.add_dim(row);
}

/// Adds a loop that may end early around the region of `f`. The first of its carries is the number of iterations that
/// are known to run.
constexpr node_id add_counted_loop(builder& b, dim_id dim, id_list<> carries, frame const& f) {
  int const count = carries.count;
  carries.add_all(f.stacked), carries.add_all(f.invariants);
  node_id const n = b.add_node(primitive::repeat, 0, carries);
  loop{dim, count, f.stacked.count, 0, false, true}.store(b.m.nodes[n]);
  region_id const owned[] = {f.region};
  b.m.nodes[n].regions = b.add_links(owned);
  b.add_result(n, dtype::i64, shape{});
  return n;
}

/// The first error that the types of a loop of these carries show, or `no_error`.
template <class S, class Condition, class Body, class... H>
consteval auto while_finding() {
  if constexpr (!(handle<H> && ...))
    return refusal<
        "T10 the carries of while_loop are tensors, each an argument of its own, as full(s, 0, mt::i32) is for "
        "the number 0",
        H...>{};
  else if constexpr (!takes<Condition, S, H...> || !takes<Body, S, H...>)
    return refusal<
        "T11 the condition and the body of while_loop take the scope, then each carry as an argument of its "
        "own",
        H...>{};
  else {
    using Go = std::remove_cvref_t<std::invoke_result_t<Condition const&, S const&, H const&...>>;
    if constexpr (std::is_same_v<Go, no_bool>) return no_error{};  // the comparison of numbers is refused already
    else if constexpr (std::is_same_v<Go, bool>)
      return refusal<
          "T10 while_loop: the condition is a bool of C++, which is known before the program runs: return one "
          "of tensors, as sum(x) > 0 is",
          Go>{};
    else if constexpr (!handle<Go>) return refusal<"T02 while_loop: the condition is not a bool", Go>{};
    else if constexpr (!of_bool<Go>) return refusal<"T02 while_loop: the condition is not a bool", Go>{};
    else {
      using Next = std::remove_cvref_t<std::invoke_result_t<Body const&, S const&, H const&...>>;
      if constexpr (gives<Next, sizeof...(H), false>) return no_error{};
      else return refusal<"T11 the body of while_loop returns as many carries as it takes, several as a tuple", Next>{};
    }
  }
}
/// Whether such a loop is recorded, because neither it nor a comparison in its condition was refused.
template <class S, class Condition, class Body, class... H>
consteval bool is_recorded() {
  if constexpr (nothing_found<decltype(while_finding<S, Condition, Body, H...>())>)
    return handle<std::remove_cvref_t<std::invoke_result_t<Condition const&, S const&, H const&...>>>;
  else return false;
}
/// Handles in the place of one carry of a refused loop, which may be a handle, a tuple of handles, or neither.
template <class H>
constexpr auto carries_in_place_of(builder& b, H const& given) {
  if constexpr (handle<H>) return std::tuple{given};
  else if constexpr (is_several<H> && is_handles<H>) return given;
  else return std::tuple{tensor<dtype::i32>(&b, value_id{})};
}
template <class A>
constexpr auto handles_in(A const& given) {
  if constexpr (is_handles<A>) return as_tuple(given);
  else return std::tuple{};
}
template <class... H>
constexpr auto refused_while(builder& b, H const&... start) {
  b.give_up();
  return std::tuple_cat(std::tuple{tensor<dtype::i64>(&b, value_id{})}, carries_in_place_of(b, start)...);
}

/// 1 if a condition holds, else 0.
template <class S, class Condition, class... H>
constexpr value_id holds(S const& s, builder& b, Condition const& condition, H const&... carries) {
  auto const go = condition(s, carries...);
  b.expect(b.m.values[go.id].dims.count == 0, "T03 while_loop: the condition has dims: reduce it with any or all");
  return cast(b, b.use(go.id), dtype::i64);
}

/// The next carry `given` as a handle like the carry `H`.
template <class H, class G>
constexpr H next_carry(builder& b, H const& carry, G const& given) {
  b.expect(b.m.values[given.id].type == H::type, "T02 a loop's next carry has another dtype than the carry: cast it");
  return H(&b, aligned(b, b.use(given.id), b.m.values[carry.id].dims));
}

/// Records a loop of at most `most` iterations, whose body takes these carries. `first` is 1 if it runs at all, and
/// `more` of the next carries is 1 if it goes on. Returns the number of iterations that were known to run, and the last
/// carries. If the loop would have gone on, this number is one more than `most`.
template <class S, class More, class Body, class... H>
constexpr auto record_while(S const& s, builder& b, number const& most, value_id first, More const& more,
                            Body const& body, H const&... start) {
  auto const here = s.enter();
  site_id const site = b.site;
  dim_id const dim = dim_of_iterations(b, "while_loop", b.add_number(most));
  b.begin_frame(region_kind::body, no_id, dim, true);
  value_id const known = b.add_carry(first);
  auto const inside = std::tuple{H(&b, b.add_carry(start.id))...};
  auto const given = as_tuple(std::apply([&](auto const&... h) { return body(s, h...); }, inside));
  auto const next = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::tuple{next_carry(b, std::get<I>(inside), std::get<I>(given))...};
  }(std::index_sequence_for<H...>());
  value_id const goes_on = std::apply(more, next);
  id_list<> results{}, carries{};
  results.add(add(b, known, goes_on)), results.add_all(ids_of(next));
  updated_states const states(b);  // after every use, because it turns the arguments of states into carries
  results.add_all(states.next);
  frame const f = b.end_frame(results);
  b.site = site;
  carries.add(first), carries.add_all(ids_of(std::tuple{start...})), carries.add_all(states.starts);
  node_id const n = add_counted_loop(b, dim, carries, f);
  auto const last = std::tuple{H(&b, b.add_result(n, H::type, b.m.values[start.id].dims))...};
  states.add_carries(n);
  states.hand_on(n, 1 + static_cast<int>(sizeof...(H)), carries.count);
  return std::tuple_cat(std::tuple{tensor<dtype::i64>(&b, b.m.result(b.m.nodes[n]))}, last);
}

/// The iterations that ran, of those that were known to run.
constexpr tensor<dtype::i64> trips_of(builder& b, tensor<dtype::i64> const& known, number const& most) {
  return {&b, elementwise(b, function::minimum, known.id, constant(b, most, dtype::i64))};
}

/// The limit of the outer loop, if inner loops of `recomputed_at_once` iterations each run in it.
constexpr number limit_of_loops(builder& b, at_most const& most) {
  bool const is_literal = most.limit.count == 1 && most.limit.items[0].kind == number::item::literal;
  double const limit = is_literal ? most.limit.items[0].value.real : 0;
  int const each = *most.recomputed_at_once;
  double const loops = each < 1 ? 0 : limit / each;
  if (loops >= 1 && loops <= 0x1p53 && loops == static_cast<double>(static_cast<std::int64_t>(loops))) return loops;
  diagnostic d{};
  b.note(d << "G38 a while_loop of at_most(...).recomputing(" << each
           << ") has a limit that is no multiple of that: write both as numbers, as in at_most(1024).recomputing(32)");
  return 1;
}

/// Records a loop of loops. In the gradient, each iteration of the outer loop runs the inner one again. The outer one
/// carries whether the inner one would have gone on, so that the condition is computed as often as in one loop.
template <class S, class More, class Body, class... H>
constexpr auto record_recomputed_while(S const& s, builder& b, at_most const& most, value_id first, More const& more,
                                       Body const& body, H const&... start) {
  number const loops = limit_of_loops(b, most), each = *most.recomputed_at_once;
  using count = tensor<dtype::i64>;
  auto const inner = [&](auto const& inside, count const&, count const& before, auto const&... h) {
    return std::apply(
        [&](count const& known, auto const&... next) {
          count const trips = trips_of(b, known, each);
          return std::tuple{count(&b, subtract(b, known.id, trips.id)), count(&b, add(b, b.use(before.id), trips.id)),
                            next...};
        },
        record_while(inside, b, each, constant(b, 1, dtype::i64), more, body, h...));
  };
  auto const all = record_while(
      s, b, loops, first, [](count const& goes_on, auto const&...) { return goes_on.id; }, rematerialize(inner),
      count(&b, first), count(&b, constant(b, 0, dtype::i64)), start...);
  return std::apply([](auto const&, auto const&, auto const&... last) { return std::tuple{last...}; }, all);
}

/// Records the loop whose condition and body take these carries. The condition is computed before the loop, and again
/// at the end of each iteration.
template <class S, class Condition, class Body, class... H>
constexpr auto record_while_loop(S const& s, builder& b, at_most const& most, Condition const& condition,
                                 Body const& body, H const&... start) {
  auto const here = s.enter();
  recording const r(&b, most.where);
  auto const goes_on = [&](auto const&... h) { return holds(s, b, condition, h...); };
  value_id const first = goes_on(start...);
  if (most.recomputed_at_once) return record_recomputed_while(s, b, most, first, goes_on, body, start...);
  return std::apply([&](tensor<dtype::i64> const& known,
                        auto const&... last) { return std::tuple{trips_of(b, known, most.limit), last...}; },
                    record_while(s, b, most.limit, first, goes_on, body, start...));
}

}  // namespace detail

/// Runs `body` while `condition` holds, at most so many times: `auto [count, last] = while_loop(s / "grow",
/// at_most(40), condition, body, x)`. Both functions take the scope, then each carry. The condition is a bool without
/// dims. Returns the number of iterations, as i64, and the last carries. The condition is called more than once while
/// the program is traced, so it watches no tensor.
///
/// layout  as of `repeat`. All ranks run as many iterations, because each rank has the whole condition
/// grad    a backward loop over as many iterations. Its values are saved in memory for all iterations that `at_most`
///         allows
/// errors  T02 and T03: a carry changes its dtype or dims; T11 the body returns another number of carries; S10 the
///         limit is less than 1, or not known when the executable is made
template <scope S, class Condition, class Body, class... H>
constexpr auto while_loop(S const& s,
                          at<at_most, decltype(detail::while_finding<S, Condition, Body, H...>())> const& most,
                          Condition const& condition, Body const& body, H const&... start) {
  builder& b = s.recorder();
  if constexpr (detail::is_recorded<S, Condition, Body, H...>()) {
    return detail::record_while_loop(s, b, most.operand, condition, body, start...);
  } else {
    return detail::refused_while(b, start...);
  }
}

/// Rejects a loop without a limit.
template <scope S, detail::argument Condition, detail::argument Body = detail::no_argument,
          class A = detail::no_argument, class B = detail::no_argument, class C = detail::no_argument,
          class D = detail::no_argument>
requires(!std::same_as<Condition, at_most>)
constexpr auto while_loop(S const& s, Condition const&, Body const& = {}, A const& a = {}, B const& b = {},
                          C const& c = {}, D const& d = {},
                          detail::refused_call<"T10 while_loop takes the scope, mt::at_most(a limit), the condition, "
                                               "the body and then each carry, not",
                                               Condition, Body, A, B, C, D> const& = {}) {
  auto const all =
      std::tuple_cat(detail::handles_in(a), detail::handles_in(b), detail::handles_in(c), detail::handles_in(d));
  return std::apply([&](auto const&... start) { return detail::refused_while(s.recorder(), start...); }, all);
}

}  // namespace meshtensor
