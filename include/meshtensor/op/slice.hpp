// SPDX-License-Identifier: Apache-2.0
// slice: a range of a dim, or each k-th element of it, along a new dim.
#pragma once

#include "meshtensor/op/detail/moved.hpp"
#include "meshtensor/op/detail/window_step.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

struct slice_rule {
  static constexpr primitive kind = primitive::slice;
  static constexpr declaration declares{.attributes = {{attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::place},
                                                       {attribute_kind::place, true}},
                                        .buffer = buffer_use::window,
                                        .text = "{0} -> {1} from {2}[ by {3}]"};
  static constexpr void infer(inference& i) {
    shape const& x = i.dims_of(0);
    strided_window const a = strided_window::of(i.attributes);
    i.expect(x.has(a.from), "T01 slice: the operand lacks the dim", 1, 1);
    i.expect(a.from != a.to, "T03 slice: a part has another extent, so it needs another dim", 0, 2);
    i.expect(!x.has(a.to), "T03 slice: the operand already has a dim of the new name", 1, 2);
    i.give(i[0].type, replaced(x, a.from, a.to));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    strided_window const a = strided_window::of(n);
    return meshtensor::sharding{}.keeps_whole(a.from).keeps_whole(a.to).passes_partial(linearity::separate);
  }
  static constexpr bool partition(auto& p, node const& n) {
    strided_window const a = strided_window::of(n);
    return detail::move_along(p, n, {a.from, a.to, a.first, no_id, 0, shift_kind::cut, a.step});
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const dy = d.cotangent(d.b.m.result(n));
    strided_window const a = strided_window::of(n);
    d.contribute(d.b.m.operand(n, 0), pad(d.b, dy, a.to, a.from, a.first, d.b.literal(0), a.step));
  }
  static void require_places(module const& m, node const& n, number_value const* numbers, std::int64_t const* extent) {
    strided_window const a = strided_window::of(n);
    require_within(m, positions_of(numbers, a.first, a.step), shift_kind::cut, a.from, extent[a.from], a.to,
                   extent[a.to]);
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    strided_window const a = strided_window::of(e.n);
    positions const at = window_positions(e);
    int const along = x.find(a.from);
    view stepped = x;
    stepped.stride[along] *= at.step;
    detail::copy_by_name(stepped, at.first * x.stride[along], y, 0, a.from, a.to, y.extent);
  }
};

constexpr value_id slice(builder& b, value_id x, dim_id from, dim_id to, number_id first, number_id step) {
  return add_node<slice_rule>(b, {x}, strided_window{from, to, first, step}.packed());
}

// ---- public functions ----

/// Takes the elements `first`, `first` + `step`, … of `x` along `from`, as many as `to` has. For example, `slice(x,
/// length, past, 1)` begins at element 1, and `slice(x, length, half, 0, 2)` takes every second element. The step may
/// be negative.
///
/// dims    those of `x`, with `to` in the place of `from`
/// layout  if one of the two dims is sharded, ranks send only the elements that change ranks
/// grad    the cotangent, padded with zeros
/// errors  T01 `x` lacks `from`; T03 `x` has `to` already; S03, or R10 where numbers change from step to step: the
///         slice reaches beyond the extent, or the step is 0
template <handle H, dim_type From, dim_type To>
constexpr auto slice(H const& x, From from, To to, number const& first, number const& step = 1,
                     detail::rule_line<slice_rule, dims<From, To>, H> const& where = {}) {
  return detail::record<slice_rule, From, To>(
      where,
      [&](builder& b) {
        dim_id const old_dim = detail::dim_of(b, from), new_dim = detail::dim_of(b, to);
        number_id const first_number = detail::add_number_of_call(b, first), step_number = detail::step_row(b, step);
        return slice(b, x.id, old_dim, new_dim, first_number, step_number);
      },
      x);
}

/// Rejects a call with numbers in the place of dims.
template <handle H, detail::argument From = detail::none_given, detail::argument To = detail::none_given,
          detail::argument First = detail::none_given, detail::argument Step = detail::none_given>
requires(!dim_type<From> || !dim_type<To> || std::same_as<First, detail::none_given>)
constexpr auto slice(
    H const& x, From const& = {}, To const& = {}, First const& = {}, Step const& = {},
    detail::refused_call_with<detail::code_if<(dim_type<From> && dim_type<To>), "T37", "T25">,
                              "slice(x, length, part, first) takes a part along one dim: `part` is a dim of its own, "
                              "mt::dim<\"part\", 10>, and `first` a number",
                              H, From, To, First, Step> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor

#include "meshtensor/op/pad.hpp"
