// SPDX-License-Identifier: Apache-2.0
// A dim: a named dimension of a tensor. Its type and its value share one name.
#pragma once

#include <concepts>
#include <cstdint>

#include "meshtensor/base/name.hpp"

namespace meshtensor {

/// The extent of a dim as its type knows it: a number, bound at start-up, or computed from other dims.
struct extent_rule {
  enum kind_t : std::uint8_t { fixed, dynamic, product, sum, shifted } kind;
  std::int64_t value;  // fixed: the extent; shifted: added to the extent of `first`
  name first, second;

  constexpr extent_rule() : kind(dynamic), value(0), first(), second() {}
  constexpr extent_rule(std::int64_t n) : kind(fixed), value(n), first(), second() {}  // NOLINT: a number is an extent
  constexpr extent_rule(kind_t k, std::int64_t v, name const& a, name const& b)
      : kind(k), value(v), first(a), second(b) {}
  constexpr bool operator==(extent_rule const&) const = default;
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
/// Identity is the name together with the extent: one name with two extents in one program is an error (T05).
template <name Name, extent_rule Extent = extent_rule{}>
struct dim {
  static_assert(Extent.kind != extent_rule::fixed || Extent.value > 0, "meshtensor T06: a dim's extent is at least 1");
  static constexpr name label = Name;
  static constexpr extent_rule rule = Extent;
  constexpr dim_extent operator()(std::int64_t extent) const { return {Name, extent}; }
};

template <class D>
concept dim_type = requires {
  { D::label } -> std::same_as<name const&>;
  { D::rule } -> std::same_as<extent_rule const&>;
};

template <dim_type A, dim_type B>
constexpr extent_rule operator*(A, B) {
  if (A::rule.kind == extent_rule::fixed && B::rule.kind == extent_rule::fixed) return {A::rule.value * B::rule.value};
  return {extent_rule::product, 0, A::label, B::label};
}
template <dim_type A, dim_type B>
constexpr extent_rule operator+(A, B) {
  if (A::rule.kind == extent_rule::fixed && B::rule.kind == extent_rule::fixed) return {A::rule.value + B::rule.value};
  return {extent_rule::sum, 0, A::label, B::label};
}
template <dim_type A, std::integral N>
constexpr extent_rule operator+(A, N n) {
  if (A::rule.kind == extent_rule::fixed) return {A::rule.value + n};
  return {extent_rule::shifted, n, A::label, name{}};
}
template <dim_type A, std::integral N>
constexpr extent_rule operator-(A a, N n) {
  return a + -n;
}

/// The dims of a result, in order: `to(batch, heads, d_head)`.
template <dim_type... D>
struct to_dims {};
template <dim_type... D>
constexpr to_dims<D...> to(D...) {
  return {};
}

}  // namespace meshtensor
