// SPDX-License-Identifier: Apache-2.0
// roll, shift and reverse: move the elements along a dim. Along a sharded dim, ranks send only elements that change
// ranks.
#pragma once

#include "meshtensor/op/detail/moved.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

struct shift_attributes {
  dim_id dim;
  number_id first;   // where the result begins in the operand (base/shifted.hpp)
  number_id around;  // the value of elements that no element of the operand reaches

  static constexpr shift_attributes of(id const* slots) {
    return {static_cast<dim_id>(slots[0]), static_cast<number_id>(slots[1]), static_cast<number_id>(slots[2])};
  }
  static constexpr shift_attributes of(node const& n) { return of(n.attribute); }
  constexpr attributes packed() const { return {{dim, first, around}}; }
};

constexpr value_id shift(builder& b, value_id x, shift_kind how, shift_attributes const& a);

struct shift_rule {
  static constexpr primitive kind = primitive::shift;
  static constexpr declaration declares{
      .attributes = {{attribute_kind::dim}, {attribute_kind::place}, {attribute_kind::number}},
      .functions = 3,
      .text = "along {0} from {1}"};

  static constexpr void infer(inference& i) {
    i.expect(i.dims_of(0).has(shift_attributes::of(i.attributes).dim), "T01 shift: the operand lacks the dim", 1, 1);
    i.give(i[0].type, i.dims_of(0));
  }
  static constexpr meshtensor::sharding sharding(module const&, node const& n) {
    return meshtensor::sharding{}.keeps_whole(shift_attributes::of(n).dim);
  }
  static constexpr bool partition(auto& p, node const& n) {
    shift_attributes const a = shift_attributes::of(n);
    return detail::move_along(p, n, {a.dim, a.dim, a.first, a.around, 0, static_cast<shift_kind>(n.function)});
  }
  /// The inverse shift. Elements that were cut off have no gradient.
  static constexpr void gradient(differentiation& d, node const& n) {
    value_id const x = d.b.m.operand(n, 0), dy = d.cotangent(d.b.m.result(n));
    shift_attributes a = shift_attributes::of(n);
    auto const how = static_cast<shift_kind>(n.function);
    if (how != shift_kind::reverse) a.first = detail::negative(d.b, a.first);
    a.around = d.b.literal(0);
    d.contribute(x, shift(d.b, dy, how, a));
  }

  template <class = lazy>
  static void evaluate(evaluation const& e) {
    view const &x = e.operands[0], &y = e.results[0];
    shift_attributes const a = shift_attributes::of(e.n);
    int const along = y.find(a.dim);
    positions const at{whole_number(e.context.numbers[a.first])};
    interval const all{0, y.extent[along]};
    if (count_shifted(static_cast<shift_kind>(e.n.function), at, all.count, all, all) != all.count)
      detail::fill_elements(y, e.context.numbers[a.around]);
    each_run(static_cast<shift_kind>(e.n.function), at, all.count, all, all, [&](shifted_run const& r) {
      view from = x, to = y;
      from.stride[along] *= r.from_step, to.extent[along] = r.count;
      detail::copy_by_name(from, r.from * x.stride[along], to, r.to * y.stride[along], no_id, no_id, to.extent);
    });
  }
};

constexpr value_id shift(builder& b, value_id x, shift_kind how, shift_attributes const& a) {
  return add_node<shift_rule>(b, {x}, a.packed(), {b.m.values[x].type, b.m.values[x].dims},
                              static_cast<std::uint8_t>(how));
}

// ---- public functions ----

namespace detail {
template <handle H, dim_type D>
constexpr auto shifted(H const& x, D along, shift_kind how, number const& by, number const& around, line const& where) {
  return record<shift_rule, D>(
      where,
      [&](builder& b) {
        meshtensor::dim_id const dim = dim_of(b, along);
        require_element(b, around, H::type, "is shifted into");
        number_id const first = negative(b, add_number_of_call(b, by)), outside = add_number_of_call(b, around);
        return shift(b, x.id, how, {dim, first, outside});
      },
      x);
}
/// Whether these are the arguments of `roll` or `shift` after the tensor.
template <class D, class By, class Around, class More>
inline constexpr bool calls_shift =
    dim_type<D> && std::is_convertible_v<By, number> && is_given_as<Around, number> && std::same_as<More, none_given>;
}  // namespace detail

/// Moves the elements of `x` along a dim by `by` positions. Elements that leave at one end come back at the other:
/// `roll(x, ring, 1)`. `by` may be negative, and may be a number that changes from step to step: `roll(x, ring,
/// s.step())`.
///
/// dims    those of `x`
/// layout  along a sharded dim of any extent, ranks send only the elements that change ranks
/// grad    the cotangent, rolled back
/// errors  T01 `x` lacks the dim
template <handle H, dim_type D>
constexpr auto roll(H const& x, D along, number const& by, line const& where = {}) {
  return detail::shifted(x, along, shift_kind::wrap, by, 0, where);
}

/// Moves the elements of `x` along a dim by `by` positions. For example, `shift(x, length, 1)` moves each element to
/// the next position. Elements that leave are lost, and `around` takes the positions that become free.
///
/// dims    those of `x`
/// layout  along a sharded dim of any extent, ranks send only the elements that change ranks
/// grad    the cotangent, shifted back, with zeros
/// errors  T01 `x` lacks the dim
template <handle H, dim_type D>
constexpr auto shift(H const& x, D along, number const& by, number const& around = 0, line const& where = {}) {
  return detail::shifted(x, along, shift_kind::cut, by, around, where);
}

/// The elements of `x` along a dim from the last to the first: `reverse(x, length)`.
///
/// dims    those of `x`
/// layout  along a sharded dim, each rank sends its part to the ranks that hold the mirrored positions
/// grad    the cotangent, reversed
/// errors  T01 `x` lacks the dim
template <handle H, dim_type D>
constexpr auto reverse(H const& x, D along, line const& where = {}) {
  return detail::shifted(x, along, shift_kind::reverse, 1 - extent(along), 0, where);
}

/// Rejects a call without a dim, or with a tensor in the place of the distance.
template <handle H, detail::argument D = detail::none_given, detail::argument By = detail::none_given,
          detail::argument More = detail::none_given>
requires(!detail::calls_shift<D, By, detail::none_given, More>)
constexpr auto roll(H const& x, D const& = {}, By const& = {}, More const& = {},
                    detail::refused_call_with<detail::code_if<dim_type<D>, "T37", "T25">,
                                              "roll(x, ring, 1) moves the elements along one dim by a number, not", H,
                                              D, By, More> const& = {}) {
  return detail::given_up(x);
}
template <handle H, detail::argument D = detail::none_given, detail::argument By = detail::none_given,
          detail::argument Around = detail::none_given, detail::argument More = detail::none_given>
requires(!detail::calls_shift<D, By, Around, More>)
constexpr auto shift(H const& x, D const& = {}, By const& = {}, Around const& = {}, More const& = {},
                     detail::refused_call_with<detail::code_if<dim_type<D>, "T37", "T25">,
                                               "shift(x, length, 1, around) moves the elements along one dim by a "
                                               "number, and `around` is the number that takes their places, not",
                                               H, D, By, Around, More> const& = {}) {
  return detail::given_up(x);
}
template <handle H, detail::argument D = detail::none_given, detail::argument More = detail::none_given>
requires(!dim_type<D> || !std::same_as<More, detail::none_given>)
constexpr auto reverse(
    H const& x, D const& = {}, More const& = {},
    detail::refused_call_with<detail::code_if<dim_type<D>, "T37", "T25">,
                              "reverse(x, length) reverses the elements along one dim, not", H, D, More> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
