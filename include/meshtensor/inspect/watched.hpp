// SPDX-License-Identifier: Apache-2.0
// Prints the range, mean and spread of each tensor that a program watches.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "meshtensor/emit/table.hpp"
#include "meshtensor/run/executable.hpp"

namespace meshtensor {

namespace detail {
/// The mean, the deviation and the extremes of a tensor, and the number of its elements that are not finite.
inline std::vector<std::string> summary_of(std::string const& label, std::string dims, block const& b) {
  std::int64_t count = 0, least_at = 0, greatest_at = 0;
  double sum = 0, squares = 0;
  return with_element(b.type(), [&]<class E>() -> std::vector<std::string> {
    E const* const all = b.as<E>();
    for (std::int64_t i = 0; i < b.size(); ++i) {
      if (!std::isfinite(b.number_at(i))) continue;
      if (count++ == 0) least_at = greatest_at = i;
      if (all[i] < all[least_at]) least_at = i;
      if (all[greatest_at] < all[i]) greatest_at = i;
      sum += b.number_at(i);
    }
    double const mean = count == 0 ? 0 : sum / static_cast<double>(count);
    for (std::int64_t i = 0; i < b.size(); ++i)
      if (double const x = b.number_at(i); std::isfinite(x)) squares += (x - mean) * (x - mean);
    auto const number = [&](auto x) {
      if (count == 0) return std::string(" -");
      if constexpr (std::is_integral_v<decltype(x)>) return fmt::format(" {}", +x);  // with all digits
      else return fmt::format(" {:.4g}", static_cast<double>(x));
    };
    auto const extreme = [&](std::int64_t at) { return count == 0 ? std::string(" -") : number(all[at]); };
    double const deviation = std::sqrt(squares / static_cast<double>(std::max<std::int64_t>(1, count)));
    return {label,
            std::move(dims),
            number(mean),
            number(deviation),
            extreme(least_at),
            extreme(greatest_at),
            " " + std::to_string(b.size() - count)};
  });
}
}  // namespace detail

/// Shows each tensor that `s.watch` names, in the last step: `mt::print(job, "{}", mt::watched(step));`. It shows the
/// dims, mean, standard deviation, least and greatest element, and the number of infinite or NaN elements, which the
/// others leave out. Extremes of integers have all their digits. All processes must call this if they hold parts of the
/// tensors.
template <class... Args>
std::string watched(executable<Args...> const& e) {
  detail::table t;
  t.add({"watched", "dims", " mean", " deviation", " least", " greatest", " not finite"});
  for (std::string const& label : e.watched()) {
    block const b = e.whole(label);
    view const all = b.window();
    std::vector<dim_extent> dims;
    for (int i = 0; i < all.count; ++i) dims.push_back({e.graph().dim_name(all.dim[i]), all.extent[i]});
    t.add(detail::summary_of(label, detail::text_of(dims), b));
  }
  return t.text();
}

}  // namespace meshtensor
