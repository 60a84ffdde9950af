// SPDX-License-Identifier: Apache-2.0
// Lists the elements of operand 0 from which each result of a pool, or of its gradient, is computed, in the order of
// `evaluate`.
#pragma once

#include <numeric>
#include <vector>

#include "meshtensor/op/pool.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// An element of the windows. `from` is its offset in operand 0 for the first of several neighbouring results, and
/// results [first, end) have the element. If the results are neighbours along channels, all of them have it.
struct pool_term {
  std::int64_t from, first, end;
  std::int32_t position;
};

/// The lines of results of one thread. Each line runs along the last dim over which a window moves.
class pool_terms {
 public:
  pool_terms(view const& x, view const& y, pool_rule::problem const& p) : x_(x), y_(y), p_(p) {
    for (int i = 0; i < y.count; ++i)
      if (p.is_windowed(i)) last_ = i;
    along_ = p.window_at(last_);
    for (int i = last_ + 1; i < y.count; ++i) inner_ *= y.extent[i];
    for (int i = 0; i < last_; ++i) lines_ *= y.extent[i];
    pool_rule::window_in_memory const& w = p.windows[along_];
    if (w.back) every_ = w.window.stride;
    period_ = w.back ? w.window.stride / std::gcd(w.window.stride, w.window.dilation) : 1;
    if (period_ > max_kept) period_ = 1;
  }

  std::int64_t lines() const { return lines_; }
  std::int64_t length() const { return y_.extent[last_]; }  // of a line
  std::int64_t inner() const { return inner_; }             // elements at each place of a line
  /// The distance between results of a line that have the same window elements. At the ends, some elements are missing.
  std::int64_t every() const { return every_; }
  std::int64_t count(std::int64_t phase) const { return (length() - phase + every_ - 1) / every_; }
  /// The distance in operand 0 between the elements that two such results have for one window element.
  std::int64_t step() const { return p_.windows[along_].back ? 1 : p_.windows[along_].window.stride; }

  void begin_line(std::int64_t line) {
    base_ = 0;
    for (int i = last_; i-- > 0; line /= y_.extent[i]) {
      std::int64_t const index = line % y_.extent[i];
      if (int const k = p_.window_at(i); k >= 0) choose(choices_[k], k, reach_of(p_.windows[k], index));
      else base_ += index * x_.stride[i];
    }
    for (kept& one : kept_) one.known = false;
  }

  /// The terms of all results at place i of the line. The caller adds `shift` to each `from`.
  std::vector<pool_term> const& at_place(std::int64_t i, std::int64_t& shift) {
    reach const r = reach_of(p_.windows[along_], i);
    kept& one = kept_[i % period_];
    if (!one.known || r.first != one.of.first || r.count != one.of.count) {
      choose(choices_[along_], along_, r);
      list(one.terms);
      one.of = r, one.known = true;
    }
    shift = (r.from - one.of.from) * x_.stride[last_];
    return one.terms;
  }

  /// The terms of results phase, phase + every(), … of the line. There are `count` such results.
  std::vector<pool_term> const& at_phase(std::int64_t phase, std::int64_t count) {
    pool_rule::window_in_memory const& w = p_.windows[along_];
    std::vector<choice>& all = choices_[along_];
    all.clear();
    for (std::int64_t e = 0; e < w.window.size; ++e) {
      std::int64_t at = w.window.input(w.to_origin, e) - w.from_origin, step = w.window.stride;
      if (w.back) {
        std::int64_t const reached = phase + w.to_origin + w.window.low - w.window.dilation * e;
        if (reached % w.window.stride != 0) continue;
        at = reached / w.window.stride - w.from_origin, step = 1;
      }
      std::int64_t const first = at >= 0 ? 0 : (step - 1 - at) / step;
      std::int64_t const end = at >= w.from ? 0 : std::min(count, (w.from - at + step - 1) / step);
      if (first < end) all.push_back({e, at * x_.stride[last_], first, end});
    }
    list(kept_[0].terms);
    return kept_[0].terms;
  }

 private:
  static constexpr std::int64_t max_kept = 4;

  /// The elements first, first + every, … of a window that relate a result to elements of operand 0. Their positions
  /// there start at `from` and are `step` apart.
  struct reach {
    std::int64_t first, count, every, from, step;
  };
  struct choice {
    std::int64_t element, from, first, end;
  };
  struct kept {
    bool known = false;
    reach of{};
    std::vector<pool_term> terms;
  };

  static reach reach_of(pool_rule::window_in_memory const& w, std::int64_t i) {
    window_numbers const& n = w.window;
    reach r{0, 0, 1, n.input(i + w.to_origin, 0) - w.from_origin, n.dilation};
    if (w.back) {
      std::int64_t const reached = i + w.to_origin + n.low;
      r.every = n.stride / std::gcd(n.stride, n.dilation);
      while (r.first < r.every && (reached - n.dilation * r.first) % n.stride != 0) ++r.first;
      if (r.first == r.every) return r;
      r.from = (reached - n.dilation * r.first) / n.stride - w.from_origin, r.step = -(n.dilation * r.every / n.stride);
    }
    std::int64_t const size = std::abs(r.step), left = w.from - 1 - r.from;  // elements behind the first one
    std::int64_t const before = r.step > 0 ? -r.from : -left, behind = r.step > 0 ? left : r.from;
    std::int64_t const skipped = before > 0 ? (before + size - 1) / size : 0;
    std::int64_t const end = behind < 0 ? 0 : std::min(behind / size + 1, (n.size - r.first + r.every - 1) / r.every);
    r.count = std::max<std::int64_t>(0, end - skipped);
    r.first += skipped * r.every, r.from += skipped * r.step;
    return r;
  }
  void choose(std::vector<choice>& all, int k, reach const& r) const {
    all.clear();
    for (std::int64_t j = 0; j < r.count; ++j)
      all.push_back({r.first + j * r.every, (r.from + j * r.step) * x_.stride[p_.windows[k].at], 0, 1});
  }
  /// Lists all choices of one element of each window. The last window varies fastest.
  void list(std::vector<pool_term>& terms) const {
    terms.assign(1, {base_, 0, 1, 0});
    for (int k = 0; k < p_.count; ++k) {
      crossed_.clear();
      for (pool_term const& t : terms)
        for (choice const& c : choices_[k]) {
          auto const position = t.position * p_.windows[k].window.size + c.element;
          bool const line = k == along_;
          crossed_.push_back(
              {t.from + c.from, line ? c.first : t.first, line ? c.end : t.end, static_cast<std::int32_t>(position)});
        }
      std::swap(terms, crossed_);
    }
  }

  view const &x_, &y_;
  pool_rule::problem const& p_;
  int last_ = 0, along_ = 0;
  std::int64_t inner_ = 1, lines_ = 1, every_ = 1, period_ = 1, base_ = 0;
  std::vector<choice> choices_[max_windows_of_one];
  mutable std::vector<pool_term> crossed_;
  kept kept_[max_kept];
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
