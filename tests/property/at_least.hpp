// SPDX-License-Identifier: Apache-2.0
// Checks that a test tried at least so many cases; tests/cases.py adds up these numbers over all files.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>

namespace property {

/// Whether only a sample is tried, as under the sanitizers.
inline bool quick() {
  static bool const is = std::getenv("MESHTENSOR_QUICK") != nullptr;
  return is;
}

/// Checks that at least `cases` were tried, or a two hundredth of them in a sample. SEED asks for a single one.
inline void at_least(long cases, long tried) {
  if (std::getenv("SEED") == nullptr) CHECK(tried >= (quick() ? cases / 200 : cases));
}

}  // namespace property
