// SPDX-License-Identifier: Apache-2.0
// Curves of numbers, such as losses by seconds, and the points at which they cross.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// A point of a curve, for example a loss at a number of seconds.
struct curve_point {
  double x = 0, y = 0;
};

/// A curve: points from left to right, and straight lines between them. A y that is infinite or NaN, for example the
/// loss of a training that diverged, leaves a gap between the points beside it.
///
///     mt::curve losses{"synchronous"};
///     losses.points.push_back({seconds, loss});
struct curve {
  std::string name;
  std::vector<curve_point> points{};

  /// Joins each `count` neighbours to one point, with the x of the last one and the mean of their y. A rest at the end
  /// is joined, too. Use it for losses of single steps, whose noise would make curves cross in many places.
  ///
  /// errors  R95 `count` is below 1
  curve averaged(std::int64_t count) const {
    if (count < 1) throw error("R95", {"a mean of ", count, " points of a curve: give 1 or more"});
    curve all{name};
    auto const step = static_cast<std::size_t>(count);
    for (std::size_t begin = 0; begin < points.size(); begin += step) {
      std::size_t const end = std::min(points.size(), begin + step);
      double sum = 0;
      for (std::size_t i = begin; i < end; ++i) sum += points[i].y;
      all.points.push_back({points[end - 1].x, sum / static_cast<double>(end - begin)});
    }
    return all;
  }
};

/// A point at which one curve falls below another one: left of it `below` is above, and right of it `above` is.
struct crossing {
  std::string below, above;
  double x = 0, y = 0;
};

namespace detail {

/// errors  R95 the points of a curve do not go from left to right
inline void require_ascending(std::vector<curve> const& curves) {
  for (curve const& c : curves)
    for (std::size_t i = 0; i < c.points.size(); ++i)
      if (!std::isfinite(c.points[i].x) || (i > 0 && c.points[i].x <= c.points[i - 1].x))
        throw error("R95", {"the curve '", c.name, "' has its point ", static_cast<std::int64_t>(i),
                            " at an x that is not finite, or not behind that of the point before: give its points from "
                            "left to right"});
}

/// The height of a curve at an x, or NaN in a gap and outside of its points.
inline double height_at(curve const& c, double x) {
  double const none = std::numeric_limits<double>::quiet_NaN();
  auto const right = std::ranges::lower_bound(c.points, x, {}, &curve_point::x);
  if (right == c.points.end()) return none;
  if (right->x == x) return std::isfinite(right->y) ? right->y : none;
  if (right == c.points.begin()) return none;
  auto const left = right - 1;
  if (!std::isfinite(left->y) || !std::isfinite(right->y)) return none;
  return left->y + (right->y - left->y) * ((x - left->x) / (right->x - left->x));
}

/// Adds the crossings of two curves. Between two neighbours among the points of both, both are straight.
inline void add_crossings(curve const& a, curve const& b, std::vector<crossing>& all) {
  std::vector<double> at;
  for (curve const* c : {&a, &b})
    for (curve_point const& p : c->points) at.push_back(p.x);
  std::ranges::sort(at);
  at.erase(std::unique(at.begin(), at.end()), at.end());
  bool is_ordered = false, was_above = false;  // which curve was above when they last differed
  double last_x = 0, last = 0, met = 0;        // `met` is where they became equal since then, if `last` is 0
  for (double const x : at) {
    double const now = height_at(a, x) - height_at(b, x);
    if (!std::isfinite(now)) {
      is_ordered = false;
      continue;
    }
    if (now == 0) {
      if (last != 0) met = x;
    } else {
      if (is_ordered && was_above != (now > 0)) {
        double const where = last == 0 ? met : last_x + (x - last_x) * (last / (last - now));
        all.push_back({now < 0 ? a.name : b.name, now < 0 ? b.name : a.name, where, height_at(a, where)});
      }
      is_ordered = true, was_above = now > 0;
    }
    last_x = x, last = now;
  }
}

}  // namespace detail

/// The points at which curves cross, from left to right. Two curves cross where one that was above the other one gets
/// below it. If they are equal in between, they cross where they meet. Curves that only touch, or that begin or end
/// together, do not cross. A gap of a curve hides what happens in it.
///
///     for (mt::crossing const& c : mt::crossings({push, synchronous}))
///       mt::print(job, "{} is below {} from {} s on\n", c.below, c.above, c.x);
///
/// errors  R95 the points of a curve do not go from left to right
inline std::vector<crossing> crossings(std::vector<curve> const& curves) {
  detail::require_ascending(curves);
  std::vector<crossing> all;
  for (std::size_t i = 0; i < curves.size(); ++i)
    for (std::size_t k = i + 1; k < curves.size(); ++k) detail::add_crossings(curves[i], curves[k], all);
  // stable_sort of g++ 12 calls a function that clang reports as deprecated.
  std::ranges::sort(all, {}, [](crossing const& c) { return std::tie(c.x, c.below, c.above); });
  return all;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
