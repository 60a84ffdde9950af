// SPDX-License-Identifier: Apache-2.0
// Numbers: weakly typed scalars, which take the dtype of the tensor they are combined with. A number is a literal, the
// extent of a dim, a value set by name at run time, the step count, or an expression of these.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/function.hpp"
#include "meshtensor/base/number_value.hpp"
#include "meshtensor/tensor/call.hpp"
#include "meshtensor/tensor/dim.hpp"
#include "meshtensor/tensor/ids.hpp"

namespace meshtensor {

struct builder;

/// The result of a refused comparison. Using it causes no second error.
struct no_bool {
  constexpr operator bool() const { return false; }  // NOLINT: as a bool in C++
};

/// A weakly typed scalar. It is evaluated in f64 at start-up or before a step, but integers of 64 bits are exact.
/// Setting it never needs a rebuild.
struct number {
  struct item {  // postfix: operands first
    enum kind_t : std::uint8_t { literal, extent, row, apply } kind;
    function f;
    number_id id;        // row: a row of the module's table of numbers
    number_value value;  // literal: its value. extent: the value that the dim's type knows, or 0
    name const* dim;     // extent: the dim's name
  };
  static constexpr int capacity = 24;
  builder* owner;  // the builder of the rows, or null while all items are literals and extents
  int count;
  item items[capacity];

  constexpr number() : owner(nullptr), count(0), items{} {}
  template <class N>
  requires std::is_arithmetic_v<N>
  constexpr number(N value) : number() {  // NOLINT: a literal is a number
    push({item::literal, function::copy, {}, value, nullptr});
  }
  constexpr void push(item const& i) {
    if (count < capacity) items[count] = i;
    if (count <= capacity) ++count;  // a larger count marks an overflow, which `builder::add_number` reports (G11)
  }
  static constexpr number of_row(builder* b, number_id row) {
    number n;
    n.owner = b;
    n.push({item::row, function::copy, row, 0, nullptr});
    return n;
  }
  // Comparison operators of C++ are errors that name the replacement.
  template <class B, class Reason = typename detail::refusal_of<detail::no_number_is_known, number, B>::type>
  MESHTENSOR_REFUSES constexpr bool operator==(B const&) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return {};
  }
  template <class B, class Reason = typename detail::refusal_of<detail::no_number_is_known, number, B>::type>
  MESHTENSOR_REFUSES constexpr no_bool operator<(B const&) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return {};
  }
  template <class B, class Reason = typename detail::refusal_of<detail::no_number_is_known, number, B>::type>
  MESHTENSOR_REFUSES constexpr no_bool operator>(B const&) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return {};
  }
  template <class B, class Reason = typename detail::refusal_of<detail::no_number_is_known, number, B>::type>
  MESHTENSOR_REFUSES constexpr no_bool operator<=(B const&) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return {};
  }
  template <class B, class Reason = typename detail::refusal_of<detail::no_number_is_known, number, B>::type>
  MESHTENSOR_REFUSES constexpr no_bool operator>=(B const&) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return {};
  }
};

/// The extent of a dim as a number, whether it is known now or bound at start-up: `scores / sqrt(extent(d_head))`.
template <dim_type D>
constexpr number extent(D) {
  constexpr std::int64_t known = D::dim_rule.kind == extent_rule::fixed ? D::dim_rule.value : 0;
  number n;
  n.push({number::item::extent, function::copy, {}, known, &D::dim_name});
  return n;
}

constexpr number apply(function f, number const& a) {
  number n = a;
  n.push({number::item::apply, f, {}, 0, nullptr});
  return n;
}
constexpr number apply(function f, number const& a, number const& b) {
  number n = a;
  if (n.owner == nullptr) n.owner = b.owner;
  for (int i = 0; i < b.count && i < number::capacity; ++i) n.push(b.items[i]);
  n.push({number::item::apply, f, {}, 0, nullptr});
  return n;
}

namespace detail {
template <class T>
concept plain_number = std::is_arithmetic_v<T>;
template <class A, class B>
concept number_pair = (std::same_as<A, number> && (std::same_as<B, number> || plain_number<B>)) ||
                      (plain_number<A> && std::same_as<B, number>);
}  // namespace detail

template <class A, class B>
requires detail::number_pair<A, B>
constexpr number operator+(A a, B b) {
  return apply(function::add, number(a), number(b));
}
template <class A, class B>
requires detail::number_pair<A, B>
constexpr number operator-(A a, B b) {
  return apply(function::subtract, number(a), number(b));
}
template <class A, class B>
requires detail::number_pair<A, B>
constexpr number operator*(A a, B b) {
  return apply(function::multiply, number(a), number(b));
}
template <class A, class B>
requires detail::number_pair<A, B>
constexpr number operator/(A a, B b) {
  return apply(function::divide, number(a), number(b));
}
/// The remainder has the sign of the divisor, as in the elementwise operation.
template <class A, class B>
requires detail::number_pair<A, B>
constexpr number operator%(A a, B b) {
  return apply(function::modulo, number(a), number(b));
}
/// Whether a number may have this value at run time. That is true for every number but a literal of another value.
constexpr bool may_be(number const& n, double value) {
  return n.count != 1 || n.items[0].kind != number::item::literal || n.items[0].value == value;
}
/// Whether a number may be from 0 to 1 at run time. That is true for every number but a literal of another value.
constexpr bool may_be_probability(number const& n) {
  if (n.count != 1 || n.items[0].kind != number::item::literal) return true;
  double const value = n.items[0].value.real;
  return value >= 0 && value <= 1;
}
constexpr number operator-(number const& a) { return apply(function::negate, a); }
constexpr number sqrt(number const& a) { return apply(function::sqrt, a); }
constexpr number rsqrt(number const& a) { return apply(function::rsqrt, a); }
constexpr number exp(number const& a) { return apply(function::exp, a); }
constexpr number log(number const& a) { return apply(function::log, a); }
constexpr number cos(number const& a) { return apply(function::cos, a); }
constexpr number floor(number const& a) { return apply(function::floor, a); }
constexpr number power(number const& a, number const& b) { return apply(function::power, a, b); }
constexpr number pow(number const& a, number const& b) { return power(a, b); }
constexpr number maximum(number const& a, number const& b) { return apply(function::maximum, a, b); }
constexpr number minimum(number const& a, number const& b) { return apply(function::minimum, a, b); }

/// An operand without a dtype: a number or a C++ literal.
template <class T>
concept number_like = std::same_as<T, number> || detail::plain_number<T>;

}  // namespace meshtensor
