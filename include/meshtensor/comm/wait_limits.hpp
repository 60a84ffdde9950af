// SPDX-License-Identifier: Apache-2.0
// Limits of a rank's wait for its peers: after which time it warns, and after which it gives up.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor {

/// The limits of a single wait. A rank that is expected may read, write or evaluate alone for minutes, so that a wait
/// is first warned of, and much later ended.
struct wait_limits {
  /// After this time a warning names the ranks that did not come; 0: never.
  std::chrono::milliseconds warn = std::chrono::seconds(60);
  /// After this time the job ends with R22, which names them; 0: never.
  std::chrono::milliseconds end = std::chrono::seconds(600);
  /// Where the warning goes.
  std::function<void(std::string const&)> say = {};

  bool endless() const { return warn.count() == 0 && end.count() == 0; }
  /// The first of both limits.
  std::chrono::milliseconds first() const {
    return warn.count() == 0 || end.count() == 0 ? std::max(warn, end) : std::min(warn, end);
  }
};

namespace detail {
inline std::chrono::milliseconds seconds_in_environment(char const* variable, std::chrono::milliseconds otherwise) {
  char const* const given = std::getenv(variable);
  if (given == nullptr) return otherwise;
  char* end = nullptr;
  double const seconds = std::strtod(given, &end);
  if (end == given || *end != '\0' || !(seconds >= 0) || seconds > 1e9)
    throw error("R29", {variable, " is '", given, "', but takes a number of seconds: 600, 0.5, or 0 for no limit"});
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(seconds * 1000)));
}
}  // namespace detail

/// What the environment says in MESHTENSOR_WARN_SECONDS and MESHTENSOR_WAIT_SECONDS; 60 and 600, where it does not.
///
/// errors  R29 one of them is not a number of seconds
inline wait_limits limits_in_environment() {
  wait_limits p;
  p.warn = detail::seconds_in_environment("MESHTENSOR_WARN_SECONDS", p.warn);
  p.end = detail::seconds_in_environment("MESHTENSOR_WAIT_SECONDS", p.end);
  return p;
}

/// `60 s`, `500 ms`
inline std::string text_of(std::chrono::milliseconds t) {
  return t.count() % 1000 == 0 ? std::to_string(t.count() / 1000) + " s" : std::to_string(t.count()) + " ms";
}

/// What a warning of a long wait ends with.
inline std::string consequence(wait_limits const& p) {
  if (p.end.count() == 0) return "";
  return "; after " + text_of(p.end) + " the job ends (MESHTENSOR_WAIT_SECONDS)";
}

/// The time that somebody has waited. Between two looks at most a second counts: what is longer is time in which this
/// very process was stopped, by a debugger or with its machine. It begins with `restart`.
class waiting_time {
  using clock = std::chrono::steady_clock;

 public:
  void restart() { total_ = {}, last_ = clock::now(); }
  std::chrono::milliseconds look() {
    auto const now = clock::now();
    total_ += std::min<clock::duration>(now - last_, std::chrono::seconds(1));
    last_ = now;
    return std::chrono::duration_cast<std::chrono::milliseconds>(total_);
  }

 private:
  clock::duration total_{};
  clock::time_point last_{};
};

}  // namespace meshtensor
