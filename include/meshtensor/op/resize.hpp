// SPDX-License-Identifier: Apache-2.0
// resize: more elements along a dim, or fewer, by interpolation.
#pragma once

#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/pool.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/reshape.hpp"

namespace meshtensor {

/// The position, in a dim of E elements, of element i of the dim that is made from it by resizing it to T elements.
///
/// nearest  element ⌊i · E / T⌋
/// linear   between the two elements around (i + ½) · E / T − ½: PyTorch's bilinear without align_corners
/// corners  between those around i · (E − 1) / (T − 1), so that both ends stay: PyTorch's with align_corners
enum class interpolation : std::uint8_t { nearest, linear, corners };

namespace detail {

/// The positions along `from`, as f64, of the elements of `to`.
constexpr value_id resized_places(builder& b, dim_id from, dim_id to, interpolation how) {
  constexpr dtype type = dtype::f64;
  number const all = number::of_row(&b, b.add_number(extent_row(from)));
  number const now = number::of_row(&b, b.add_number(extent_row(to)));
  value_id const i = iota(b, to, type);
  // Divides whole numbers, because their product is exact, so no whole position is rounded down.
  auto const part = [&](number const& by, number const& over) {
    return divide(b, {multiply(b, i, constant(b, by, type)), constant(b, over, type)});
  };
  if (how == interpolation::nearest) return elementwise(b, function::floor, part(all, now));
  if (how == interpolation::corners) return part(all - 1, maximum(now - 1, number(1)));
  value_id const half = constant(b, 0.5, type);
  value_id const place = subtract(b, multiply(b, {add(b, i, half), constant(b, all / now, type)}), half);
  value_id const last = constant(b, all - 1, type);
  return elementwise(b, function::minimum, elementwise(b, function::maximum, place, constant(b, 0, type)), last);
}

/// `x` with `to` in the place of `from`.
constexpr value_id resize(builder& b, value_id x, dim_id from, dim_id to, interpolation how) {
  dim_id const along = b.dim_like(to);  // no layout shards it, so `from` and `to` may be sharded over one axis
  shape const order = replaced(b.m.values[x].dims, from, along);
  dtype const type = b.m.values[x].type;
  value_id const place = resized_places(b, from, along, how);
  value_id const first = elementwise(b, function::floor, place);
  auto const taken = [&](value_id index) { return gather(b, x, cast(b, index, dtype::i64), from, order); };
  if (how == interpolation::nearest) return rename(b, taken(first), along, to);
  // A sum of products, because the difference of the two elements may overflow, and that of equal infinities is NaN.
  // An element of weight 0 is not looked up, because 0 times infinity would be NaN. Both lookups are linear, so only
  // their sum is reduced along a sharded dim.
  auto const weighted = [&](value_id index, value_id weight) {
    value_id const is_needed = elementwise(b, function::not_equal, weight, constant(b, 0, type));
    value_id const nowhere = constant(b, -1, dtype::f64);
    return multiply(b, taken(select(b, is_needed, index, nowhere)), weight);
  };
  value_id const share = cast(b, subtract(b, place, first), type), rest = subtract(b, constant(b, 1, type), share);
  value_id const second = add(b, first, constant(b, 1, dtype::f64));
  return rename(b, add(b, {weighted(first, rest), weighted(second, share)}), along, to);
}

template <handle X, dim_type From, dim_type To>
consteval auto resize_finding() {
  if constexpr (!has_dim<X, From>) return refusal<"T01 resize: the tensor lacks the dim that it resizes", X, From>{};
  else if constexpr (!lacks_dim<X, To>) return refusal<"T03 resize: the tensor has the new dim already", X, To>{};
  else return no_error{};
}

}  // namespace detail

/// Resizes a tensor along one dim: `resize(x, rows, rows_2)`, `resize(x, rows, rows_2, mt::interpolation::linear)`.
/// Linear resizing along two dims, one after the other, is called bilinear.
///
/// dims    those of `x`, with `to` in the place of `from`
/// layout  along a sharded dim each rank looks up its own elements, and the results are reduced to the parts of `to`
/// grad    the cotangent, added up at the elements that were looked up
/// errors  T01 `x` lacks `from`; T03 it has `to` already; T04 linear takes floats
template <handle X, dim_type From, dim_type To>
constexpr auto resize(X const& x, From from, To to, interpolation how = interpolation::nearest,
                      checked_line<decltype(detail::resize_finding<X, From, To>())> const& where = {}) {
  using result = typename detail::dims_after<typename X::dim_list, window_of_size<From, To>>::type;
  detail::composed const here(detail::owner_of(x), where, "resize");
  here.b.expect(how == interpolation::nearest || of_float<X>,
                "T04 resize: only floats lie between elements: cast the tensor, or take mt::interpolation::nearest");
  if constexpr (nothing_found<decltype(detail::resize_finding<X, From, To>())>)
    return detail::wrap<X::type, result>(
        here.b, detail::resize(here.b, x.id, detail::dim_of(here.b, from), detail::dim_of(here.b, to), how));
  else return detail::given_up(x);
}

/// Rejects a call with a number in the place of the new dim, or with something else in the place of the interpolation.
template <handle X, detail::argument From = detail::none_given, detail::argument To = detail::none_given,
          detail::argument How = detail::none_given>
requires(!dim_type<From> || !dim_type<To> || !detail::is_given_as<How, interpolation>)
constexpr auto resize(
    X const& x, From const& = {}, To const& = {}, How const& = {},
    detail::refused_call_with<detail::code_if<(dim_type<From> && dim_type<To>), "T37", "T25">,
                              "resize(x, rows, wide, mt::interpolation::linear) gives a dim another extent: `wide` is "
                              "a dim of its own, mt::dim<\"wide\", 10>, not",
                              X, From, To, How> const& = {}) {
  return detail::given_up(x);
}

}  // namespace meshtensor
