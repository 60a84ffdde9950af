// SPDX-License-Identifier: Apache-2.0
// Learning rate schedules. A schedule is a number, evaluated before each step. A constant rate is a number already. A
// schedule that is a number of an optimizer follows that optimizer's updates, and any other schedule follows the steps
// of its program. In the formulas, t is the number of complete updates or steps, so it begins at 0. The formulas also
// use rise = min(1, (t + 1) / warmup) and passed = (t − warmup) / (total − warmup), which is kept between 0 and 1. A
// warmup or divisor below 1 counts as 1.
#pragma once

#include <initializer_list>

#include "meshtensor/graph/scope.hpp"

namespace meshtensor::nn {

namespace detail {
/// The number as one row of the program's table, so that longer expressions can use it.
template <scope S>
constexpr number row(S const& s, number const& n) {
  return number::of_row(&s.graph_builder(), s.graph_builder().add_number(n));
}

/// A number that was given to an optimizer, as one row. Schedules in this number follow the optimizer's updates.
template <scope S>
constexpr number own_row(S const& s, number const& given) {
  builder& b = s.graph_builder();
  number_id const last = b.add_number(given);
  bool wanted[max_numbers] = {};
  number_id made[max_numbers] = {};
  wanted[last] = true;
  for (int i = last; i >= 0; --i) {
    number_row const& n = b.m.numbers[i];
    if (!wanted[i] || n.kind != number_row::expression) continue;
    wanted[n.first] = true;
    if (n.second != id{no_id}) wanted[n.second] = true;
  }
  for (int i = 0; i <= last; ++i) {
    number_row n = b.m.numbers[i];
    made[i] = static_cast<number_id>(i);
    if (!wanted[i]) continue;
    if (n.kind == number_row::schedule) made[i] = b.add_number(s.most_updates(s.path()));
    if (n.kind != number_row::expression) continue;
    n.first = made[n.first];
    if (n.second != id{no_id}) n.second = made[n.second];
    made[i] = b.add_number(n);
  }
  return number::of_row(&b, made[last]);
}
template <scope S>
constexpr number risen(S const& s, number const& warmup) {
  return row(s, minimum(1, (s.scheduled_step() + 1) / maximum(warmup, 1)));
}
/// The progress from the end of the warmup to step `total`: from 0 to 1.
template <scope S>
constexpr number progress(S const& s, number const& warmup, number const& total) {
  return row(s, minimum(1, maximum(0, (s.scheduled_step() - warmup) / maximum(total - warmup, 1))));
}
}  // namespace detail

/// Rises linearly to `peak` in `warmup` steps, then stays constant: peak · rise.
template <scope S>
constexpr number warmup_constant(S const& s, number const& peak, number const& warmup) {
  return detail::row(s, peak * detail::risen(s, warmup));
}

/// Rises linearly to `peak` in `warmup` steps, then falls to `last` · `peak` at step `total` along half a cosine:
/// peak · rise · (last + (1 − last) · (1 + cos(π · passed)) / 2).
///
/// source  Loshchilov and Hutter, arXiv:1608.03983
template <scope S>
constexpr number warmup_cosine(S const& s, number const& peak, number const& warmup, number const& total,
                               number const& last = 0) {
  number const height = detail::row(s, (1 + cos(3.14159265358979323846 * detail::progress(s, warmup, total))) / 2);
  number const kept = detail::row(s, last + (1 - last) * height);
  return detail::row(s, peak * detail::risen(s, warmup) * kept);
}

/// Rises linearly to `peak` in `warmup` steps, then falls linearly to `last` · `peak` at step `total`:
/// peak · rise · (1 − (1 − last) · passed).
template <scope S>
constexpr number warmup_linear(S const& s, number const& peak, number const& warmup, number const& total,
                               number const& last = 0) {
  number const kept = detail::row(s, 1 - (1 - last) * detail::progress(s, warmup, total));
  return detail::row(s, peak * detail::risen(s, warmup) * kept);
}

/// Rises linearly to `peak` in `warmup` steps, and is multiplied by `factor` at each of the steps `falls`:
/// `warmup_stairs(s, 0.1, 500, {30'000, 60'000, 80'000})`. peak · rise · factor^(the number of `falls` that are <= t).
///
/// source  He et al., arXiv:1512.03385, section 3.4
template <scope S>
constexpr number warmup_stairs(S const& s, number const& peak, number const& warmup,
                               std::initializer_list<number> falls, number const& factor = 0.1) {
  number passed = detail::row(s, 0);
  for (number const& fall : falls) {
    number const beyond = detail::row(s, (s.scheduled_step() + 1) / maximum(fall + 1, 1));
    passed = detail::row(s, passed + apply(function::floor, minimum(1, beyond)));
  }
  return detail::row(s, peak * detail::risen(s, warmup) * power(factor, passed));
}

/// Rises linearly to `peak` in `warmup` steps, then falls with the inverse square root of the step:
/// peak · min(rise, √(warmup / (t + 1))).
///
/// source  Vaswani et al., arXiv:1706.03762, equation 3, where `peak` is (d_model · warmup)^(−1/2)
template <scope S>
constexpr number inverse_square_root(S const& s, number const& peak, number const& warmup) {
  number const later = detail::row(s, sqrt(maximum(warmup, 1) / (s.scheduled_step() + 1)));
  return detail::row(s, peak * minimum(detail::risen(s, warmup), later));
}

}  // namespace meshtensor::nn
