// SPDX-License-Identifier: Apache-2.0
// Adds squares of elements of any size, so that norms and lengths of huge and of tiny values are as exact as others.
#pragma once

#include "meshtensor/op/elementwise.hpp"

namespace meshtensor::nn::detail {

/// The elements of a dtype whose squares can be added as they are. Other elements are first multiplied by a power of
/// two, because such a factor changes no digit.
struct range_of_squares {
  double most, lower;   // elements beyond `most` are multiplied by `lower`
  double least, raise;  // if no element is beyond `least`, all are multiplied by `raise`

  static constexpr range_of_squares of(dtype t) {
    return t == dtype::f64 ? range_of_squares{0x1p400, 0x1p-560, 0x1p-290, 0x1p560}
                           : range_of_squares{0x1p48, 0x1p-70, 0x1p-30, 0x1p70};
  }
};

/// `x`, with elements beyond ± `most` replaced by ± `most`.
template <handle X>
constexpr X held_within(X const& x, double most) {
  return minimum(maximum(x, -most), most);
}

/// Two sums or means of squares. `usual` is right if no element is huge, and `lowered` is that of lowered elements,
/// which is right otherwise. Neither overflows, so the one that is not used is never infinite.
template <handle Y>
struct squares_of {
  Y usual, lowered;
};

/// `added` gives the sum or the mean of a tensor.
template <handle X, class Added>
constexpr auto squares_within(X const& x, Added const& added) {
  constexpr auto range = range_of_squares::of(X::type);
  auto const held = held_within(x, range.most);
  auto const lowered = x * range.lower;
  return squares_of{added(held * held), added(lowered * lowered)};
}
/// Whether no element is huge. `count` is the number of elements of a mean, and 1 for a sum.
template <handle Y>
constexpr auto are_usual(squares_of<Y> const& q, number const& count) {
  constexpr double most = range_of_squares::of(Y::type).most;
  return q.usual < most * most / (2 * count);
}

/// The sum or mean of squares itself. It is infinite if the dtype cannot hold it.
template <handle Y>
constexpr auto added_of(squares_of<Y> const& q, number const& count) {
  constexpr double raise = 1 / range_of_squares::of(Y::type).lower;
  return select(are_usual(q, count), q.usual, q.lowered * raise * raise);
}
/// √(sum or mean of squares), of elements that may be huge.
template <handle Y>
constexpr auto root_of(squares_of<Y> const& q, number const& count = 1) {
  auto const usual = are_usual(q, count);
  auto const root = sqrt(select(usual, q.usual, q.lowered));
  return select(usual, root, root * (1 / range_of_squares::of(Y::type).lower));
}
/// 1 / √x, and 0 where x is 0. It may be 0 only if an epsilon that a user gives is 0.
template <handle X>
constexpr X rsqrt_or_zero(X const& x, bool may_be_zero) {
  if (!may_be_zero) return rsqrt(x);
  auto const is_zero = x == 0;
  return select(is_zero, 0, rsqrt(select(is_zero, 1, x)));
}
/// 1 / √(mean of squares + epsilon), of elements that may be huge. Squares of tiny elements may vanish, because they
/// are far smaller than an epsilon.
template <handle Y>
constexpr auto rsqrt_of(squares_of<Y> const& q, number const& count, number const& epsilon) {
  auto const usual = are_usual(q, count);
  auto const root = rsqrt_or_zero(select(usual, q.usual + epsilon, q.lowered), may_be(epsilon, 0));
  return select(usual, root, root * range_of_squares::of(Y::type).lower);
}
/// √(sum of squares), of elements that may be huge or tiny.
template <handle X, class Sum>
constexpr auto length_of(X const& x, Sum const& sum) {
  constexpr auto range = range_of_squares::of(X::type);
  auto const q = squares_within(x, sum);
  auto const raised = held_within(x, range.least) * range.raise;
  auto const of_raised = sqrt(sum(raised * raised)) * (1 / range.raise);
  return select(q.usual < range.least * range.least, of_raised, root_of(q));
}

}  // namespace meshtensor::nn::detail
