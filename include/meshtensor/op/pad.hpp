// SPDX-License-Identifier: Apache-2.0
// pad: the elements of a tensor become a range of a longer dim, with a number around them.
#pragma once

#include "meshtensor/op/detail/moved.hpp"
#include "meshtensor/op/detail/window_step.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

struct pad_attributes {
  dim_id from, to;   // dims
  number_id first;   // the position of the operand along `to`: a row of the table of numbers
  number_id around;  // the value of the other elements: also such a row
  number_id step;    // also such a row, or no_id for a step of 1

  static constexpr pad_attributes of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), static_cast<dim_id>(slots[1]), static_cast<number_id>(slots[2]),
            static_cast<number_id>(slots[3]), static_cast<number_id>(slots[4])};
  }
  static constexpr pad_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{from, to, first, around, step}}; }
};

struct pad_rule {
  static constexpr primitive kind = primitive::pad;
  static constexpr declaration declares{.attributes = {{attribute_kind::dim},
                                                       {attribute_kind::dim},
                                                       {attribute_kind::place},
                                                       {attribute_kind::number},
                                                       {attribute_kind::place, true}},
                                        .text = "{0} -> {1} at {2}[ by {4}] around {3}"};
  static constexpr void infer(inference& i) {
    shape const& x = i.dims_of(0);
    pad_attributes const a = pad_attributes::of(i.attributes);
    i.expect(x.has(a.from), "T01 pad: the operand lacks the dim", 1, 1);
    i.expect(a.from != a.to, "T03 pad: the result has another extent, so it needs another dim", 0, 2);
    i.expect(!x.has(a.to), "T03 pad: the operand already has a dim of the new name", 1, 2);
    i.give(i[0].type, replaced(x, a.from, a.to));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    pad_attributes const a = pad_attributes::of(n);
    return meshtensor::sharding{}.keeps_whole(a.from).keeps_whole(a.to);
  }
  static constexpr bool partition(auto& p, node const& n) {
    pad_attributes const a = pad_attributes::of(n);
    return detail::move_along(p, n, {a.from, a.to, a.first, a.around, 0, shift_kind::spread, a.step});
  }
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const dy = d.cotangent(d.b.m.result(n));
    pad_attributes const a = pad_attributes::of(n);
    d.contribute(d.b.m.operand(n, 0), slice(d.b, dy, a.to, a.from, a.first, a.step));
  }
  static void require_places(module const& m, node const& n, number_value const* numbers, std::int64_t const* extent) {
    pad_attributes const a = pad_attributes::of(n);
    require_within(m, positions_of(numbers, a.first, a.step), shift_kind::spread, a.from, extent[a.from], a.to,
                   extent[a.to]);
  }
  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    pad_attributes const a = pad_attributes::of(e.n);
    positions const at = positions_in(e);
    int const along = y.find(a.to);
    view stepped = y;
    stepped.stride[along] *= at.step;
    detail::fill_elements(y, e.context.numbers[a.around]);
    detail::copy_by_name(x, 0, stepped, at.first * y.stride[along], a.from, a.to, x.extent);
  }
  /// The positions along the result that the operand's elements take. errors R10 they are not all in it, or the step is
  /// 0
  static positions positions_in(evaluation const& e) {
    pad_attributes const a = pad_attributes::of(e.n);
    int const along = e.results[0].find(a.to);
    positions const at = positions_of(e.context.numbers, a.first, a.step);
    require_within(e.m, at, shift_kind::spread, a.from, e.operands[0].extent[along], a.to, e.results[0].extent[along]);
    return at;
  }
};

constexpr value_id pad(builder& b, value_id x, dim_id from, dim_id to, number_id first, number_id around,
                       number_id step) {
  return add_node<pad_rule>(b, {x}, pad_attributes{from, to, first, around, step}.packed());
}

// ---- public functions ----

/// Pads `x` along `from`. Its elements become the elements `first`, `first` + `step`, … along `to`, and all others are
/// `around`. For example, `pad(x, half, length, 0, 0, 2)` has a step of 2, so it puts a zero after each element. The
/// step may be negative.
///
/// dims    those of `x`, with `to` in the place of `from`
/// layout  if one of the two dims is sharded, ranks send only the elements that change ranks
/// grad    the slice of the cotangent
/// errors  T01 `x` lacks `from`; T03 `x` has `to` already; S03, or R10 where numbers change from step to step: `x`
///         reaches beyond the extent of `to`, or the step is 0
template <handle H, dim_type From, dim_type To>
constexpr auto pad(H const& x, From from, To to, number const& first, number const& around = 0, number const& step = 1,
                   detail::rule_line<pad_rule, dims<From, To>, H> const& where = {}) {
  return detail::record<pad_rule, From, To>(
      where,
      [&](builder& b) {
        dim_id const old_dim = detail::dim_of(b, from), new_dim = detail::dim_of(b, to);
        detail::require_element(b, around, H::type, "is the padding of");
        number_id const first_number = detail::add_number_of_call(b, first),
                        value_around = detail::add_number_of_call(b, around);
        return pad(b, x.id, old_dim, new_dim, first_number, value_around, detail::step_row(b, step));
      },
      x);
}

/// Rejects a call with numbers in the place of dims, or without the place of the first element.
template <handle H, detail::argument From = detail::none_given, detail::argument To = detail::none_given,
          detail::argument First = detail::none_given, detail::argument Around = detail::none_given,
          detail::argument Step = detail::none_given>
requires(!dim_type<From> || !dim_type<To> || std::same_as<First, detail::none_given>)
constexpr auto pad(
    H const& x, From const& = {}, To const& = {}, First const& = {}, Around const& = {}, Step const& = {},
    detail::refused_call_with<detail::code_if<(dim_type<From> && dim_type<To>), "T37", "T25">,
                              "pad(x, rows, wide, first, around) gives a dim another extent: `wide` is a dim of its "
                              "own, mt::dim<\"wide\", 10>, `first` the place of the first element along it, not",
                              H, From, To, First, Around, Step> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor

#include "meshtensor/op/slice.hpp"
