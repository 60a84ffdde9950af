// SPDX-License-Identifier: Apache-2.0
// Compares a processor's part of a value with the whole value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "meshtensor/array/block.hpp"

namespace meshtensor_test {

namespace detail {

/// The greatest magnitude in a block, the scale of its errors.
inline double greatest(meshtensor::block const& b) {
  double most = 0;
  for (std::int64_t i = 0; i < b.size(); ++i)
    if (double const v = std::abs(b.number_at(i)); v > most && std::isfinite(v)) most = v;
  return most;
}

}  // namespace detail

/// The tolerance of a comparison: the same bits; equal numbers, where zeros of both signs are equal; or an error up to
/// a share of the greatest element, or of `least` if all are smaller. NaN equals NaN.
struct closeness {
  double tolerance, least;
  constexpr closeness(double t, double magnitude = 0) : tolerance(t), least(magnitude) {}  // a tolerance
};
inline constexpr closeness same_bits = -1, same_numbers = 0;

/// One sentence about the first element in which `part` differs from `whole`; empty: none does.
inline std::string difference(meshtensor::view const& part, meshtensor::block const& whole, closeness how = same_bits) {
  namespace mt = meshtensor;
  mt::view const all = whole.window();
  if (part.type != all.type || part.count != all.count) return "has another dtype or other dims";
  mt::walk<2> w;
  std::int64_t first = 0;
  for (int i = 0; i < part.count; ++i) {
    if (part.dim[i] != all.dim[i] || part.total[i] != all.extent[i]) return "has other dims";
    w.stride[0][i] = part.stride[i], w.stride[1][i] = all.stride[i], w.extent[w.count++] = part.extent[i];
    first += part.origin[i] * all.stride[i];
  }
  if (w.empty()) return "";
  return mt::with_element(all.type, [&]<class E>() -> std::string {
    double allowed = -1;
    do {
      E const &a = part.as<E>()[w.offset[0]], &b = whole.as<E>()[first + w.offset[1]];
      if (std::memcmp(&a, &b, sizeof(E)) == 0) continue;
      auto const got = static_cast<double>(a), wanted = static_cast<double>(b);
      if (std::isnan(got) && std::isnan(wanted)) continue;
      bool const is_integer = std::is_integral_v<E>;  // of other bits, it is another one; a double may not show it
      if (!is_integer && how.tolerance >= 0 && got == wanted) continue;
      if (allowed < 0) allowed = how.tolerance <= 0 ? 0 : how.tolerance * std::max(how.least, detail::greatest(whole));
      if (allowed > 0 && std::abs(got - wanted) <= allowed) continue;
      char text[160];
      if constexpr (std::is_integral_v<E>)
        return "element " + std::to_string(first + w.offset[1]) + " is " + std::to_string(a) + ", but must be " +
               std::to_string(b);
      std::snprintf(text, sizeof(text), "element %lld is %.17g, but must be %.17g (off by %.3g of %.3g allowed)",
                    static_cast<long long>(first + w.offset[1]), got, wanted, std::abs(got - wanted), allowed);
      return text;
    } while (w.next());
    return "";
  });
}

}  // namespace meshtensor_test
