// SPDX-License-Identifier: Apache-2.0
// The seeds of a test of random graphs, and the extents with which a graph is tried.
#pragma once

#include <cstdlib>
#include <vector>

#include "property/sample.hpp"
#include "property/subject.hpp"

namespace property {

/// Those of the sample; SEED=n tries that graph alone, COUNT=n so many.
template <class F>
void each_seed(std::uint64_t first, int count, F f) {
  first = first_in_sample(first, count), count = share_of(count);
  if (char const* one = std::getenv("SEED")) first = std::strtoull(one, nullptr, 10), count = 1;
  if (char const* more = std::getenv("COUNT")) count = std::atoi(more);
  for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(count); ++seed) {
    INFO("SEED=" << seed);
    f(seed);
  }
}

/// All alike and even, or each from 1 to one more than the processors, or 13.
inline std::vector<mt::dim_extent> extents_of(mt::module const& m, std::int64_t processors, rng& c) {
  std::vector<mt::dim_extent> extents;
  bool const even = c.one_in(2);
  for (int d = 0; d < m.dim_count; ++d)
    if (m.dims[d].kind == mt::dim_row::dynamic)
      extents.push_back({m.dim_name(d), even           ? processors == 1 ? 2 + d % 2 : processors
                                        : c.one_in(12) ? 13
                                                       : 1 + c.below(static_cast<int>(processors) + 1)});
  return extents;
}

}  // namespace property
