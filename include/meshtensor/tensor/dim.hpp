// SPDX-License-Identifier: Apache-2.0
// A dim: a named dimension of a tensor. Its type and its value share one name.
#pragma once

#include <concepts>
#include <cstdint>

#include "meshtensor/base/name.hpp"

namespace meshtensor {

/// The extent of a dim as its type knows it: a number, an extent bound at start-up, or one computed from other dims.
struct extent_rule {
  /// `holders` and `rows` belong to exchanged rows: see dim_row.
  enum kind_t : std::uint8_t { fixed, dynamic, product, sum, shifted, windowed, holders, rows } kind;
  std::int64_t value;  // fixed: the extent. shifted: added to the extent of `first`. windowed: a window_places
  name first, second;  // first, of a fixed extent: the dim whose rules in layouts hold for this one, too

  constexpr extent_rule() : kind(dynamic), value(0), first(), second() {}
  constexpr extent_rule(std::int64_t n) : kind(fixed), value(n), first(), second() {}  // NOLINT: a number is an extent
  constexpr extent_rule(kind_t k, std::int64_t v, name const& a, name const& b)
      : kind(k), value(v), first(a), second(b) {}
  constexpr bool operator==(extent_rule const&) const = default;
};

/// The number of places of a window along a dim of some extent: floor((extent + offset) / stride) + 1, or 0 if the
/// window is too long. It is packed into one number, because it is the value of an extent_rule: the offset and the
/// stride have 32 bits each.
struct window_places {
  std::int64_t offset;  // the elements that padding adds, minus the length of the window
  std::int64_t stride;

  static constexpr window_places of(std::int64_t packed) { return {packed >> 32, packed & 0xffffffff}; }
  constexpr std::int64_t packed() const { return offset * (std::int64_t{1} << 32) + stride; }
  constexpr bool is_valid() const {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    return stride >= 1 && stride < most && offset >= -most && offset < most;
  }
  constexpr std::int64_t operator()(std::int64_t extent) const {
    return extent + offset < 0 ? 0 : (extent + offset) / stride + 1;
  }
};

/// An extent given at start-up: `batch(64)`.
struct dim_extent {
  name label;
  std::int64_t extent;
};

/// A named dimension of a tensor.
///
///     inline constexpr struct batch : mt::dim<"batch"> {} batch;                       // extent bound at start-up
///     inline constexpr struct heads : mt::dim<"heads", 8> {} heads;
///     inline constexpr struct joined : mt::dim<"joined", heads * d_head> {} joined;    // computed from others
///
/// A dim is identified by its name together with its extent. Therefore one name with two extents in one program is an
/// error (T05).
template <name Name, extent_rule Extent = extent_rule{}>
struct dim {
  static_assert(Extent.kind != extent_rule::fixed || Extent.value > 0,
                "meshtensor T06: a dim's extent is at least 1; one by windowed has none where the window is too long");
  static_assert(Extent.kind != extent_rule::windowed || window_places::of(Extent.value).is_valid(),
                "meshtensor T47: the size, the stride and the dilation of mt::divided and mt::windowed are at least 1, "
                "and less than 2^31 as the padding");
  static constexpr name dim_name = Name;  // not `label`, because a dim may have that name
  static constexpr extent_rule dim_rule = Extent;
  constexpr dim_extent operator()(std::int64_t extent) const { return {Name, extent}; }
};

/// A dim, declared as `mt::dim`. Functions that take a dim use this concept, for example:
/// `constexpr auto layer(mt::scope auto s, auto x, mt::dim_type auto along)`.
template <class D>
concept dim_type = requires {
  { D::dim_name } -> std::same_as<name const&>;
  { D::dim_rule } -> std::same_as<extent_rule const&>;
};

template <dim_type A, dim_type B>
constexpr extent_rule operator*(A, B) {
  if (A::dim_rule.kind == extent_rule::fixed && B::dim_rule.kind == extent_rule::fixed)
    return {A::dim_rule.value * B::dim_rule.value};
  return {extent_rule::product, 0, A::dim_name, B::dim_name};
}
template <dim_type A, dim_type B>
constexpr extent_rule operator+(A, B) {
  if (A::dim_rule.kind == extent_rule::fixed && B::dim_rule.kind == extent_rule::fixed)
    return {A::dim_rule.value + B::dim_rule.value};
  return {extent_rule::sum, 0, A::dim_name, B::dim_name};
}
template <dim_type A, std::integral N>
constexpr extent_rule operator+(A, N n) {
  if (A::dim_rule.kind == extent_rule::fixed) return {A::dim_rule.value + n};
  return {extent_rule::shifted, n, A::dim_name, name{}};
}
template <dim_type A, std::integral N>
constexpr extent_rule operator-(A a, N n) {
  return a + -n;
}

namespace detail {
template <dim_type A>
constexpr extent_rule windowed_by(window_places count) {
  if (!count.is_valid()) return {extent_rule::windowed, 0, A::dim_name, name{}};  // which no dim accepts
  if (A::dim_rule.kind == extent_rule::fixed)
    return {extent_rule::fixed, count(A::dim_rule.value), A::dim_name, name{}};
  return {extent_rule::windowed, count.packed(), A::dim_name, name{}};
}
}  // namespace detail

/// The extent of a dim divided by a stride, rounded up: `mt::dim<"rows_2", divided(rows, 2)>`. If a layout has no rule
/// for the new dim, its rule for the original dim applies.
template <dim_type A>
constexpr extent_rule divided(A, std::int64_t stride) {
  return detail::windowed_by<A>({-1, stride});
}
/// The number of places of a window of `size` elements, `dilation` apart, along a dim that is padded by `low` and
/// `high`: `mt::dim<"rows_2", windowed(rows, 7, 2, 1, 3, 3)>`. The rules of layouts apply as for `divided`.
template <dim_type A>
constexpr extent_rule windowed(A, std::int64_t size, std::int64_t stride = 1, std::int64_t dilation = 1,
                               std::int64_t low = 0, std::int64_t high = 0) {
  bool const moves = size >= 1 && dilation >= 1;
  return detail::windowed_by<A>({low + high - dilation * (size - 1) - 1, moves ? stride : 0});
}

/// The dims of a result, in order: `to(batch, heads, d_head)`.
template <dim_type... D>
struct to_dims {};
/// The dims of a result, in the order in which they are given: `einsum(x, w, to(batch, d_ff))`.
template <dim_type... D>
constexpr to_dims<D...> to(D...) {
  return {};
}

}  // namespace meshtensor
