// SPDX-License-Identifier: Apache-2.0
// Runs the fuzzed functions: each takes any bytes, and either throws an mt::error or does all that it promises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "meshtensor/base/diagnostic.hpp"

namespace fuzz {

/// Ends the process where a promise does not hold: the fuzzer keeps the input.
inline void require(bool holds) {
  if (!holds) std::abort();
}

/// Whether it went well. Every refusal has a code of files; any other exception ends the process.
template <class F>
bool refused_or(F const& f) {
  try {
    f();
    return true;
  } catch (meshtensor::error const& e) {
    require(e.code().starts_with('C') && !e.sentence().empty());
    return false;
  }
}

}  // namespace fuzz
