// SPDX-License-Identifier: Apache-2.0
// Python for tests that have it on their other side.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "support/skip.hpp"

namespace meshtensor_test {

/// How a command begins that Python runs: the one that CMake has found, or was given.
inline std::string python() {
  char const* const given = std::getenv("MESHTENSOR_PYTHON");
  return given == nullptr ? "python3" : "'" + std::string(given) + "'";
}

/// A package is not there: the test is skipped, but fails where CI=true says that all must run.
inline void skip_without_package(std::string const& why) {
  char const* const ci = std::getenv("CI");
  if (ci != nullptr && std::string(ci) == "true") FAIL(why);
  skip(why.c_str());
}

}  // namespace meshtensor_test
