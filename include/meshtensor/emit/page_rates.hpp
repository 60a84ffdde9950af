// SPDX-License-Identifier: Apache-2.0
// The rates of a machine that a page uses to estimate times, and the source of each rate.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/mesh/link.hpp"
#include "meshtensor/pass/cost.hpp"

namespace meshtensor {

/// The work that the ranks of a page can do in a second. A rate of 0 is unknown, and so is an axis without a link. For
/// unknown rates, the page assumes 100 Gflop/s, 10 GB/s of memory, and 1 GB/s of network without latency, and says so.
///
///     mt::page_rates{{2e14, 2e12}, {{"data", 5e-6, 25e9}}, "given"}
struct page_rates {
  rates processor{};
  std::vector<link> links{};
  std::string source = "given";  // of the known rates, for example "measured"
};

namespace detail {

/// The rates of a page, with assumed values in place of unknown ones.
class known_rates {
 public:
  static constexpr rates assumed{1e11, 1e10};
  static constexpr double assumed_network = 1e9;

  /// errors  R28 a rate is negative or no number
  explicit known_rates(page_rates const& r) : given_(r) {
    require_rate(r.processor.flops), require_rate(r.processor.bytes);
    for (link const& l : r.links) require_rate(l.bytes_per_second), require_rate(l.latency);
  }

  rates processor() const {
    return {knows_flops() ? given_.processor.flops : assumed.flops,
            knows_bytes() ? given_.processor.bytes : assumed.bytes};
  }
  link of_axis(name const& axis) const {
    for (link const& l : given_.links)
      if (l.axis == axis && l.bytes_per_second > 0) return l;
    return {axis, 0, assumed_network};
  }
  std::string source_of_flops() const { return source(knows_flops()); }
  std::string source_of_bytes() const { return source(knows_bytes()); }
  std::string source_of_axis(name const& axis) const {
    for (link const& l : given_.links)
      if (l.axis == axis && l.bytes_per_second > 0) return source(true);
    return source(false);
  }

 private:
  bool knows_flops() const { return given_.processor.flops > 0; }
  bool knows_bytes() const { return given_.processor.bytes > 0; }
  std::string source(bool is_known) const { return is_known ? given_.source : "assumed"; }
  static void require_rate(double rate) {
    if (!(rate >= 0) || std::isinf(rate))
      throw error("R28", {"a rate of a page is negative or no number: give it above 0, or 0 if it is not known"});
  }

  page_rates given_;
};

}  // namespace detail

}  // namespace meshtensor
