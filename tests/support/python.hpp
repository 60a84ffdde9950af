// SPDX-License-Identifier: Apache-2.0
// Runs Python in tests that compare with it.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "support/skip.hpp"

namespace meshtensor_test {

/// The Python command: the one that CMake has found, or was given.
inline std::string python() {
  char const* const given = std::getenv("MESHTENSOR_PYTHON");
  return given == nullptr ? "python3" : "'" + std::string(given) + "'";
}

/// Skips the test because a package is missing; fails if CI=true, where all tests must run.
inline void skip_without_package(std::string const& why) {
  char const* const ci = std::getenv("CI");
  if (ci != nullptr && std::string(ci) == "true") FAIL(why);
  skip(why.c_str());
}

}  // namespace meshtensor_test
