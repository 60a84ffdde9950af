// SPDX-License-Identifier: Apache-2.0
// Prints the tensors that a program watches: range, mean and spread of each.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "meshtensor/emit/table.hpp"
#include "meshtensor/run/executable.hpp"

namespace meshtensor {

/// For each tensor that `s.watch` names, in the last step: its dims, mean, standard deviation, least and greatest
/// element, and the number of infinite or NaN elements, which the others leave out: `mt::print(job, "{}",
/// mt::watched(step));`. All processes must call this where they hold parts of the tensors.
template <class... Args>
std::string watched(executable<Args...> const& e) {
  detail::table t;
  t.add({"watched", "dims", " mean", " deviation", " least", " greatest", " not finite"});
  for (std::string const& label : e.watched()) {
    any_array<double> const a = e.watched(label);
    std::int64_t count = 0;
    double sum = 0, squares = 0, least = std::numeric_limits<double>::infinity(), greatest = -least;
    for (double const x : a)
      if (std::isfinite(x)) ++count, sum += x, least = std::min(least, x), greatest = std::max(greatest, x);
    double const mean = count == 0 ? 0 : sum / static_cast<double>(count);
    for (double const x : a)
      if (std::isfinite(x)) squares += (x - mean) * (x - mean);
    auto const number = [&](double x) { return count == 0 ? std::string(" -") : fmt::format(" {:.4g}", x); };
    t.add({label, detail::text_of(a.dims()), number(mean),
           number(std::sqrt(squares / static_cast<double>(std::max<std::int64_t>(1, count)))), number(least),
           number(greatest), " " + std::to_string(a.size() - count)});
  }
  return t.text();
}

}  // namespace meshtensor
