// SPDX-License-Identifier: Apache-2.0
// An ordered set of dims, as small integers, and the shape rules of the operations. The same rules compute the type of
// a handle and the dims of a node. In the type, the integers stand for types of dims. In the node, they are rows of the
// module's table of dims.
#pragma once

#include <cstdint>
#include <type_traits>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/tensor/dim.hpp"

namespace meshtensor {

struct shape {
  static constexpr int capacity = max_dims_of_one;
  std::uint8_t count;
  std::uint8_t at[capacity];

  constexpr bool operator==(shape const& other) const {
    if (count != other.count) return false;
    for (int i = 0; i < count; ++i)
      if (at[i] != other.at[i]) return false;
    return true;
  }
  /// The position of dim `d`, or -1.
  constexpr int find(int d) const {
    for (int i = 0; i < count; ++i)
      if (at[i] == d) return i;
    return -1;
  }
  constexpr bool has(int d) const { return find(d) >= 0; }
  /// Whether no dim was added beyond the capacity.
  constexpr bool fits() const { return !has(too_many); }
  constexpr bool includes(shape const& other) const {
    for (int i = 0; i < other.count; ++i)
      if (!has(other.at[i])) return false;
    return true;
  }
  /// Adds a dim. Beyond the capacity, it marks the shape instead. `fits` is then false, and so is that of every shape
  /// made from it by the functions below. Therefore `add_value` reports T07.
  constexpr shape& add(int d) {
    if (count < capacity) at[count++] = static_cast<std::uint8_t>(d);
    else at[capacity - 1] = too_many;
    return *this;
  }

  static constexpr std::uint8_t too_many = 0xff;  // the mark, in place of a dim
};
static_assert(max_dims <= shape::too_many);

/// Broadcasting by name: the dims of both operands, in order of first appearance.
constexpr shape united(shape a, shape const& b) {
  for (int i = 0; i < b.count; ++i)
    if (!a.has(b.at[i])) a.add(b.at[i]);
  return a;
}

/// `a` without the dims of `b`.
constexpr shape without(shape const& a, shape const& b) {
  shape r{};
  for (int i = 0; i < a.count; ++i)
    if (!b.has(a.at[i]) || a.at[i] == shape::too_many) r.add(a.at[i]);
  return r;
}

/// The dims of `a` that `b` has, too.
constexpr shape common(shape const& a, shape const& b) { return without(a, without(a, b)); }

/// `a` with dim `from` renamed to `to`, in place.
constexpr shape replaced(shape a, int from, int to) {
  for (int i = 0; i < a.count; ++i)
    if (a.at[i] == from) a.at[i] = static_cast<std::uint8_t>(to);
  return a;
}

/// `a` with dim `from` replaced by all dims of `to`, in place. It is used for gathered dims and split dims.
constexpr shape expanded(shape const& a, int from, shape const& to) {
  shape r{};
  for (int i = 0; i < a.count; ++i) {
    if (a.at[i] != from) {
      r.add(a.at[i]);
      continue;
    }
    for (int k = 0; k < to.count; ++k) r.add(to.at[k]);
  }
  return r;
}

/// `a` with dim `d` first.
constexpr shape led_by(int d, shape const& a) {
  shape r{};
  r.add(d);
  for (int i = 0; i < a.count; ++i)
    if (a.at[i] != d) r.add(a.at[i]);
  return r;
}

/// A list of dims as a type.
template <class... D>
struct dims {
  static constexpr int count = sizeof...(D);
};

namespace detail {

template <class A, class B>
inline constexpr bool same_dim = A::dim_name == B::dim_name;

// Position of the first dim with D's name among All.
template <class D, class... All>
constexpr int position_among() {
  int result = -1, i = 0;
  ((result < 0 && same_dim<D, All> ? void(result = i) : void(), ++i), ...);
  return result;
}

template <int I, class First, class... Rest>
struct nth : nth<I - 1, Rest...> {};
template <class First, class... Rest>
struct nth<0, First, Rest...> {
  using type = First;
};

template <class... Lists>
struct joined;
template <class... A>
struct joined<dims<A...>> {
  using type = dims<A...>;
};
template <class... A, class... B, class... Rest>
struct joined<dims<A...>, dims<B...>, Rest...> : joined<dims<A..., B...>, Rest...> {};

template <class List, class All>
struct numbered;
template <class... D, class... All>
struct numbered<dims<D...>, dims<All...>> {
  static constexpr shape value = [] {
    shape s{};
    (s.add(position_among<D, All...>()), ...);
    return s;
  }();
};

template <shape S, class All, class Indices>
struct selected;
template <shape S, class... All, int... I>
struct selected<S, dims<All...>, std::integer_sequence<int, I...>> {
  using type = dims<typename nth<S.at[I], All...>::type...>;
};

}  // namespace detail

/// Applies a shape rule to lists of dim types: `ruled<rule, dims<A…>, dims<B…>>` is the list of the result's dims.
template <auto Rule, class... Lists>
struct ruled {
  using all = typename detail::joined<Lists...>::type;
  static constexpr shape made = Rule(detail::numbered<Lists, all>::value...);
  static_assert(made.fits(), "meshtensor T07: a tensor has more than 10 dims: merge some, or sum over them before");
  static constexpr shape result = made.fits() ? made : shape{};
  using type = typename detail::selected<result, all, std::make_integer_sequence<int, result.count>>::type;
};
template <auto Rule, class... Lists>
using ruled_t = typename ruled<Rule, Lists...>::type;

template <class List, class D>
inline constexpr bool has_dim_v = false;
template <class... All, class D>
inline constexpr bool has_dim_v<dims<All...>, D> = (detail::same_dim<D, All> || ...);

}  // namespace meshtensor
