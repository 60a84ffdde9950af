// SPDX-License-Identifier: Apache-2.0
// Loops: regions of the graph that run once for every index of a dim.
#pragma once

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/detail/handles.hpp"

namespace meshtensor {
namespace detail {

/// The handle types of a slice, which lacks the loop's dim, and of a stack, whose first dim is the loop's dim.
template <class D>
struct slice_rule_of {
  constexpr shape operator()(shape const& a, shape const& d) const { return without(a, d); }
};
template <class D>
struct stack_rule_of {
  constexpr shape operator()(shape const& a, shape const& d) const { return led_by(d.at[0], a); }
};
template <class H, class D>
using sliced_t = handle_t<H::type, result_dims_t<slice_rule_of<D>{}, typename H::dim_list, dims<D>>>;
template <class H, class D>
using stacked_t = handle_t<H::type, result_dims_t<stack_rule_of<D>{}, typename H::dim_list, dims<D>>>;

template <class D, class... H>
constexpr std::tuple<sliced_t<H, D>...> slices(builder& b, dim_id dim, std::tuple<H...> const& xs) {
  return std::apply(
      [&](auto const&... x) {
        return std::tuple<sliced_t<H, D>...>{sliced_t<H, D>(&b, [&] {
          region_id const region = b.region;
          b.region = b.m.regions[region].parent, --b.depth;
          shape const dims = b.m.values[x.id].dims;
          if (!dims.has(dim)) {
            diagnostic d{};
            add_type(d << "T01 a loop along '" << b.m.dim_name(dim) << "' runs over a tensor that lacks this dim, ",
                     b.m, H::type, dims);
            b.note(d);
          }
          value_id const led = aligned(b, b.use(x.id), led_by(dim, dims));
          b.region = region, ++b.depth;
          return b.add_stacked(led);
        }())...};
      },
      xs);
}

template <class T>
inline constexpr bool is_handles = handle<T>;
template <class... T>
inline constexpr bool is_handles<std::tuple<T...>> = (handle<T> && ...);
/// Whether a loop's body returns the right number of carries and, if wanted, values to stack.
template <class Given, std::size_t Carries, bool Stacks>
inline constexpr bool gives = !Stacks && is_handles<Given> && Carries == 1;
template <class... T, std::size_t Carries>
inline constexpr bool gives<std::tuple<T...>, Carries, false> = (handle<T> && ...) && sizeof...(T) == Carries;
template <class First, class Second, std::size_t Carries>
inline constexpr bool gives<std::tuple<First, Second>, Carries, true> =
    gives<First, Carries, false> && is_handles<Second>;

/// The first error that the types of a loop over `D` show, or `no_error`. `C` are its carries and `X` its sequences.
template <scope S, dim_type D, class Body, class... C, class... X>
consteval auto body_finding(std::tuple<C...> const*, std::tuple<X...> const*) {
  if constexpr (!takes<Body, S, C..., sliced_t<X, D>...>)
    return refusal<
        "T11 the body of a loop takes the scope, then each carry and a slice of each sequence as arguments of their "
        "own",
        C..., sliced_t<X, D>...>{};
  else {
    using Given =
        std::remove_cvref_t<std::invoke_result_t<Body const&, S const&, C const&..., sliced_t<X, D> const&...>>;
    if constexpr (gives<Given, sizeof...(C), sizeof...(X) != 0>) return no_error{};
    else if constexpr (sizeof...(X) != 0)
      return refusal<
          "T11 the body of scan returns std::tuple(next carry, what is stacked); several of either are a tuple of "
          "their own",
          Given>{};
    else return refusal<"T11 the body of a loop must return as many carries as it takes, several as a tuple", Given>{};
  }
}
template <class T>
using tuple_of = std::remove_cvref_t<decltype(as_tuple(std::declval<T const&>()))>;
template <scope S, dim_type D, class Carry, class Xs, class Body>
consteval auto loop_finding() {
  if constexpr (is_handles<Carry> && is_handles<Xs>)
    return body_finding<S, D, Body>(static_cast<tuple_of<Carry> const*>(nullptr),
                                    static_cast<tuple_of<Xs> const*>(nullptr));
  else
    return refusal<
        "T10 a loop takes tensors as its carries and sequences, several as a tuple, as full(s, 0, mt::f32) is for the "
        "number 0",
        Carry, Xs>{};
}
/// The line of a call of a loop. It refuses the call if the types show an error.
template <class... A>
using loop_line = checked_line<decltype(loop_finding<A...>())>;

/// Reports T07 if a loop over `dim` stacks a tensor that has this dim.
constexpr void refuse_own_dim(builder& b, dim_id dim, id_list<> const& stacked) {
  for (int i = 0; i < stacked.count; ++i) {
    value const& v = b.m.values[stacked.at[i]];
    if (!v.dims.has(dim)) continue;
    diagnostic d{};
    add_type(d << "T07 a loop over '" << b.m.dim_name(dim) << "' stacks ", b.m, v.type, v.dims);
    b.note(d << ", which has that dim itself: start from a tensor without it, such as full(s, 0, dtype, to(...)), or "
                "rename it before");
  }
}

/// Closes the body that returned `given`, and records the loop.
template <class D, bool Stacks, class Carry, class Given>
constexpr auto end_loop(builder& b, dim_id dim, site_id site, Carry const& start, Given const& given) {
  auto const carries = as_tuple(start);
  auto next = as_tuple([&] {
    if constexpr (Stacks) return std::get<0>(given);
    else return given;
  }());
  auto outs = [&] {
    if constexpr (Stacks) return as_tuple(std::get<1>(given));
    else return std::tuple<>{};
  }();
  id_list<> results{}, operands{};
  id_list<> const first = ids_of(carries), last = ids_of(next);
  for (int i = 0; i < first.count; ++i) {
    b.expect(b.m.values[first.at[i]].type == b.m.values[last.at[i]].type,
             "T02 a loop's next carry has another dtype than the carry: cast it");
    results.add(aligned(b, b.use(last.at[i]), b.m.values[first.at[i]].dims));
  }
  id_list<> out_ids = ids_of(outs);
  refuse_own_dim(b, dim, out_ids);
  for (int i = 0; i < out_ids.count; ++i) out_ids.at[i] = b.use(out_ids.at[i]);
  updated_states const states(b);  // behind every use: it turns the arguments of states into carries
  results.add_all(states.next), results.add_all(out_ids), results.add_all(states.slices);
  frame const f = b.end_frame(results);
  b.site = site;
  int const all_carries = first.count + states.starts.count;
  operands.add_all(first), operands.add_all(states.starts);
  operands.add_all(f.stacked), operands.add_all(f.invariants);
  node_id const n = b.add_node(primitive::repeat, 0, operands);
  loop{dim, all_carries, f.stacked.count, 0, false, false}.store(b.m.nodes[n]);
  region_id const owned[] = {f.region};
  b.m.nodes[n].regions = b.add_links(owned);
  auto final = std::apply(
      [&](auto const&... c) { return std::tuple{rewrapped(b, c, b.add_result(n, c.type, b.m.values[c.id].dims))...}; },
      carries);
  states.add_carries(n);
  auto stacked = std::apply(
      [&](auto const&... o) {
        return std::tuple{stacked_t<std::remove_cvref_t<decltype(o)>, D>(
            &b, b.add_result(n, o.type, led_by(dim, b.m.values[o.id].dims)))...};
      },
      outs);
  states.add_stacks(n);
  states.hand_on(n, first.count, all_carries + out_ids.count);
  if constexpr (Stacks)
    return std::tuple{as_given<Carry>(final), as_given<std::remove_cvref_t<decltype(std::get<1>(given))>>(stacked)};
  else return as_given<Carry>(final);
}

/// Runs `body` in a frame of its own and records the loop. A call that its line refuses records nothing.
template <bool Shares, class S, class D, class Line, class Carry, class Xs, class Body>
constexpr auto record_loop(S const& s, D, Line const& where, Carry const& start, Xs const& sequences,
                           Body const& body) {
  builder& b = s.recorder();
  constexpr bool has_outputs = !std::is_same_v<Xs, std::tuple<>>;
  if constexpr (is_refused<Line>) {
    b.give_up();
    if constexpr (has_outputs) return std::tuple{start, std::get<0>(as_tuple(start))};
    else return start;
  } else {
    auto const here = s.enter();
    auto const carries = as_tuple(start);
    auto const xs = as_tuple(sequences);
    dim_id const dim = dim_of(b, D{});
    recording const r(&b, where);
    site_id const site = b.site;
    b.begin_frame(region_kind::body, no_id, dim, Shares);
    auto inner =
        std::apply([&](auto const&... c) { return std::tuple{rewrapped(b, c, b.add_carry(c.id))...}; }, carries);
    auto given = std::apply([&](auto const&... arguments) { return body(s, arguments...); },
                            std::tuple_cat(inner, slices<D>(b, dim, xs)));
    return end_loop<D, has_outputs>(b, dim, site, start, given);
  }
}

}  // namespace detail

/// Runs `body` once for every index of `dim`, each time with its own parameters: x ← body(s, x). Therefore parameters
/// declared inside have the dim `dim`. The graph, the kernels and the compile time do not grow with the number of
/// iterations.
///
/// dims    those of the carry. A tuple of handles is several carries. The body returns the same dims, in any order
/// layout  the carry is laid out as its dims imply. Parameters are sharded like any tensor
/// grad    a reversed loop. The forward loop saves the forward values, or the reversed loop recomputes them
/// errors  T03 the next carry has other dims; G23 a value made inside is used outside
template <scope S, dim_type D, class Carry, class Body>
constexpr auto repeat(S const& s, D dim, Carry const& start, Body const& body,
                      detail::loop_line<S, D, Carry, std::tuple<>, Body> const& where = {}) {
  return detail::record_loop<false>(s, dim, where, start, std::tuple<>{}, body);
}

/// `repeat` over sequences slices tensors that have `dim`, and stacks results: (x, y[l]) ← body(s, x, z[l]). It returns
/// the last x and all y. Several tensors are a tuple: `repeat(s / "layers", layers, x, std::tuple(keys, values),
/// body)`.
template <scope S, dim_type D, class Carry, class Xs, class Body>
requires(handle<Xs> || detail::is_tuple<Xs>)
constexpr auto repeat(S const& s, D dim, Carry const& start, Xs const& sequences, Body const& body,
                      detail::loop_line<S, D, Carry, Xs, Body> const& where = {}) {
  return detail::record_loop<false>(s, dim, where, start, sequences, body);
}

/// Runs the same step along a sequence, with shared parameters: (h, y[l]) ← body(s, h, x[l]). It returns the last h and
/// all y.
template <scope S, dim_type D, class Carry, class Xs, class Body>
requires(detail::is_handles<Carry> && detail::is_handles<Xs>)
constexpr auto scan(S const& s, D dim, Carry const& start, Xs const& sequences, Body const& body,
                    detail::loop_line<S, D, Carry, Xs, Body> const& where = {}) {
  return detail::record_loop<true>(s, dim, where, start, sequences, body);
}

namespace detail {
/// The result of a refused loop: its start, or `no_result` if no argument is a tensor.
template <class... A>
constexpr auto start_of_refused(A const&...) {
  return no_result{};
}
template <class First, class... More>
constexpr auto start_of_refused(First const& first, More const&... more) {
  if constexpr (scope<First>) first.recorder().give_up();
  if constexpr (handle<First>) return given_up(first);
  else return start_of_refused(more...);
}
}  // namespace detail
/// Rejects a call whose first argument is no scope, or whose second argument is no dim.
template <class S, detail::argument D, detail::argument A, detail::argument B = detail::no_argument,
          detail::argument C = detail::no_argument>
requires(!(scope<S> && dim_type<D>))
constexpr auto repeat(S const& s, D const& d, A const& a, B const& b = {}, C const& c = {},
                      detail::refused_call<"T10 a loop takes a scope, the dim that counts its iterations, then tensors "
                                           "and its body: repeat(s / \"layers\", layers, x, body)",
                                           S, D> const& = {}) {
  return detail::start_of_refused(s, d, a, b, c);
}
template <class S, detail::argument D, detail::argument A, detail::argument B = detail::no_argument,
          detail::argument C = detail::no_argument>
requires(!(scope<S> && dim_type<D>))
constexpr auto scan(S const& s, D const& d, A const& a, B const& b = {}, C const& c = {},
                    detail::refused_call<"T10 a loop takes a scope, the dim that counts its iterations, then tensors "
                                         "and its body: scan(s / \"time\", time, start, sequence, body)",
                                         S, D> const& = {}) {
  auto const start = detail::start_of_refused(s, d, a, b, c);
  return std::tuple(start, start);
}
/// Rejects a call without a sequence, or with a carry or sequence that is no tensor.
template <scope S, dim_type D, detail::argument First, detail::argument A = detail::no_argument,
          detail::argument B = detail::no_argument>
requires(!(detail::is_handles<First> && detail::is_handles<A>))
constexpr auto scan(S const& s, D, First const& first, A const& a = {}, B const& b = {},
                    detail::refused_call<"T10 scan takes the first carry, then a sequence, which are tensors: scan(s / "
                                         "\"time\", time, start, sequence, body); iota(s, time, mt::i32) is a "
                                         "sequence that counts, full(s, 0, mt::f32, mt::to(batch)) a start",
                                         First, A, B> const& = {}) {
  auto const start = detail::start_of_refused(s, first, a, b);
  return std::tuple(start, start);
}

}  // namespace meshtensor
