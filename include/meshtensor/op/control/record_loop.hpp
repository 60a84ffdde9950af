// SPDX-License-Identifier: Apache-2.0
// Records a loop over the indices of a dim: its body in a frame of its own, and the node that owns the body.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/graph/scope.hpp"
#include "meshtensor/op/control/loop_end.hpp"
#include "meshtensor/op/detail/handles.hpp"

namespace meshtensor::detail {

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

/// Reports T44 if a loop over `dim` stacks a tensor that has this dim.
constexpr void refuse_own_dim(builder& b, dim_id dim, id_list<> const& stacked) {
  for (int i = 0; i < stacked.count; ++i) {
    value const& v = b.m.values[stacked.at[i]];
    if (!v.dims.has(dim)) continue;
    diagnostic d{};
    add_type(d << "T44 a loop over '" << b.m.dim_name(dim) << "' stacks ", b.m, v.type, v.dims);
    b.note(d << ", which has that dim itself: start from a tensor without it, such as full(s, 0, dtype, to(...)), or "
                "rename it before");
  }
}

/// Stacks as the program sees them. If the loop ends early, what the end says stands behind the exit.
template <class End, class... H>
constexpr auto seen_stacks(builder& b, dim_id dim, End const& end, value_id count, std::tuple<H...> const& stacks) {
  if constexpr (!End::is_early) return stacks;
  else
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<H...>{H(&b, [&] {
        value_id const stack = std::get<I>(stacks).id, rest = end.template rest_of<I>(b, b.m.values[stack]);
        return End::with_rest(b, dim, count, stack, rest);
      }())...};
    }(std::index_sequence_for<H...>());
}

/// Closes the body that returned `given`, and records the loop.
template <class D, bool Stacks, class End, class Carry, class Given>
constexpr auto end_loop(builder& b, dim_id dim, site_id site, End const& end, Carry const& start, Given const& given) {
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
    require_dtype_of_carry(b, first.at[i], last.at[i]);
    results.add(aligned(b, b.use(last.at[i]), b.m.values[first.at[i]].dims));
  }
  if constexpr (End::is_early) {
    id_list<> const taken = results;
    results.count = 0, operands.add(end.first);
    results.add([&]<std::size_t... I>(std::index_sequence<I...>) {
      return end.after(b, rewrapped(b, std::get<I>(carries), taken.at[I])...);
    }(std::make_index_sequence<std::tuple_size_v<decltype(as_tuple(start))>>()));
    results.add_all(taken);
  }
  id_list<> out_ids = ids_of(outs);
  refuse_own_dim(b, dim, out_ids);
  for (int i = 0; i < out_ids.count; ++i) out_ids.at[i] = b.use(out_ids.at[i]);
  updated_states const states(b);  // behind every use: it turns the arguments of states into carries
  results.add_all(states.next), results.add_all(out_ids), results.add_all(states.slices);
  frame const f = b.end_frame(results);
  b.site = site;
  int const own_carries = End::is_early + first.count, all_carries = own_carries + states.starts.count;
  operands.add_all(first), operands.add_all(states.starts);
  operands.add_all(f.stacked), operands.add_all(f.invariants);
  node_id const n = b.add_node(primitive::repeat, 0, operands);
  loop{dim, all_carries, f.stacked.count, 0, false, End::is_early}.store(b.m.nodes[n]);
  region_id const owned[] = {f.region};
  b.m.nodes[n].regions = b.add_links(owned);
  value_id const count = End::is_early ? b.add_result(n, dtype::i64, shape{}) : value_id{no_id};
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
  states.hand_on(n, own_carries, all_carries + out_ids.count, [&](value_id before, value_id stack) {
    if constexpr (End::is_early) return End::with_rest(b, dim, count, stack, before);
    else return stack;
  });
  if constexpr (Stacks)
    return std::tuple{as_given<Carry>(final), as_given<std::remove_cvref_t<decltype(std::get<1>(given))>>(
                                                  seen_stacks(b, dim, end, count, stacked))};
  else return as_given<Carry>(final);
}

/// Runs `body` in a frame of its own and records the loop. A call that its line refuses records nothing.
template <bool Shares, class S, class D, class Line, class Carry, class Xs, class Body, class End = at_last_index>
constexpr auto record_loop(S const& s, D, Line const& where, Carry const& start, Xs const& sequences, Body const& body,
                           End end = {}) {
  builder& b = s.graph_builder();
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
    if constexpr (End::is_early) std::apply([&](auto const&... c) { end.begin(b, c...); }, carries);
    b.begin_frame(region_kind::body, no_id, dim, Shares);
    if constexpr (End::is_early) end.known = b.add_carry(end.first);
    auto inner =
        std::apply([&](auto const&... c) { return std::tuple{rewrapped(b, c, b.add_carry(c.id))...}; }, carries);
    auto given = std::apply([&](auto const&... arguments) { return body(s, arguments...); },
                            std::tuple_cat(inner, slices<D>(b, dim, xs)));
    return end_loop<D, has_outputs>(b, dim, site, end, start, given);
  }
}

}  // namespace meshtensor::detail
