// SPDX-License-Identifier: Apache-2.0
// Checks that a test tried at least so many cases: numbers that tests/cases.py adds up over all files.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>

namespace property {

/// Under the sanitizers a sample is tried.
inline bool quick() {
  static bool const is = std::getenv("MESHTENSOR_QUICK") != nullptr;
  return is;
}

/// Checks that so many cases were tried; of a sample the two hundredth part. SEED asks for a single one.
inline void at_least(long cases, long tried) {
  if (std::getenv("SEED") == nullptr) CHECK(tried >= (quick() ? cases / 200 : cases));
}

}  // namespace property
