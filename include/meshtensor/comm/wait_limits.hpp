// SPDX-License-Identifier: Apache-2.0
// Time limits of a rank's wait for its peers: for a warning, and for an error.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/warning.hpp"

namespace meshtensor {

/// The limits of a single wait. A peer may read, write or evaluate alone for minutes, so a wait first gives a warning,
/// and much later an error.
struct wait_limits {
  /// After this time a warning names the missing ranks. 0 means never.
  std::chrono::milliseconds warn = std::chrono::seconds(60);
  /// After this time the job ends with R22, which names the missing ranks. 0 means never.
  std::chrono::milliseconds end = std::chrono::seconds(600);
  /// Receives the warning.
  std::function<void(std::string const&)> say = {};

  bool endless() const { return warn.count() == 0 && end.count() == 0; }
  /// The first limit to be reached.
  std::chrono::milliseconds first() const {
    return warn.count() == 0 || end.count() == 0 ? std::max(warn, end) : std::min(warn, end);
  }
};

/// The time that a rank has waited, from `restart` on. Between two calls of `look` at most a second counts, because in
/// a longer gap this process was stopped, by a debugger or with its machine.
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

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

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

/// The limits from the environment variables MESHTENSOR_WARN_SECONDS and MESHTENSOR_WAIT_SECONDS. The defaults are 60
/// and 600 seconds.
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

/// The end of a warning's sentence, which says what happens if the wait goes on.
inline std::string consequence(wait_limits const& p) {
  if (p.end.count() == 0) return "";
  return "; after " + text_of(p.end) + " the job ends (MESHTENSOR_WAIT_SECONDS)";
}

/// The wait limits from the environment, with warnings through `on_warning()`. errors R29
inline wait_limits waits_of_a_job() {
  wait_limits limits = limits_in_environment();
  limits.say = [](std::string const& sentence) {
    if (on_warning()) on_warning()(sentence);
  };
  return limits;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
