// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a long job: one line that is rewritten in a terminal, or a new line every ten seconds
// elsewhere.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "meshtensor/base/quantity.hpp"
#include "meshtensor/job/job.hpp"
#include "meshtensor/train/progress_unit.hpp"

namespace meshtensor {

/// Seconds of a monotonic clock.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// A duration as text, for example `0:07`, `12:31` or `1:02:31`.
inline std::string clock_text(double seconds) {
  auto const s = static_cast<std::int64_t>(std::min(std::max(0.0, seconds), 1e15) + 0.5);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

/// The progress of a training. The line computes the rate and the time left by its unit and its clock, if the caller
/// does not give them.
struct progress_facts {
  std::int64_t step = 0, steps = 0;  // steps done, and steps in all, 0 if unknown
  double loss = 0;
  double per_second = -1;    // units a second, negative if unknown
  double seconds_left = -1;  // negative if unknown
  std::string_view units{};  // the unit, for example images, or empty if unknown
  double waiting = -1;       // the share of the time that steps waited for data, negative if unknown
};

/// A rate with few digits: `0.25`, `4437`, `44.4 k`, `1.23 M`.
inline std::string rate_text(double per_second) {
  if (!(per_second < 1e18)) return "?";
  if (per_second < 9.995) return fmt::format("{:.2f}", per_second);
  return per_second < 9999.5 ? fmt::format("{:.0f}", per_second)
                             : detail::rounded(static_cast<std::int64_t>(per_second));
}

/// The text of a line: `step 120/2940  loss 5.8970  4437 tokens/s  12:31 left`, with `  2 % waiting for data` before
/// the time if it is known. Unknown facts are left out.
inline std::string text_of(progress_facts const& f) {
  std::string const of = f.steps == 0 ? "" : fmt::format("/{}", f.steps);
  std::string all = fmt::format("step {}{}  loss {:.4f}", f.step, of, f.loss);
  if (f.per_second >= 0)
    all += "  " + rate_text(f.per_second) + (f.units.empty() ? "" : " ") + std::string(f.units) + "/s";
  if (f.waiting >= 0) all += fmt::format("  {:.0f} % waiting for data", 100 * f.waiting);
  if (f.seconds_left >= 0) all += "  " + clock_text(f.seconds_left) + " left";
  return all;
}

/// Shows progress on standard error, from one process of a job, as often as a reader can follow. Call `line.show({…})`
/// after each step, which costs next to nothing. A terminal gets one line that is rewritten. Other outputs get plain
/// lines. The last step is always shown.
class progress_line {
 public:
  /// With a unit, the line itself computes how many units a second the training processes, and the time that is left:
  ///
  ///     mt::progress_line line(job, mt::unit_of(step));     // or {"frames", 32}: 32 frames a step
  ///     line.show({.step = 120, .steps = 2940, .loss = loss});
  explicit progress_line(job const& job, progress_unit unit = {})
      : progress_line(job.is_root() ? stderr : nullptr, is_terminal(), std::move(unit)) {}
  /// Writes to another file, or nowhere if `to` is null. If `rewrites` is true, each line overwrites the last one.
  progress_line(std::FILE* to, bool rewrites, progress_unit unit = {})
      : to_(to), rewrites_(rewrites), unit_(std::move(unit)) {}
  progress_line(progress_line const&) = delete;
  ~progress_line() { clear(); }

  void show(progress_facts facts, double now = seconds_now()) {
    if (to_ == nullptr) return;
    if (first_step_ < 0) first_step_ = facts.step, first_ = now;
    if (bool const is_last = facts.steps > 0 && facts.step >= facts.steps; now < next_ && !is_last) return;
    next_ = now + (rewrites_ ? 0.2 : 10);
    complete(facts, now);
    std::string const line = text_of(facts);
    std::fputs((rewrites_ ? "\r" + line + "\x1b[K" : line + "\n").c_str(), to_);
    std::fflush(to_);
    shown_ = rewrites_;
  }
  /// Clears the terminal's line for other output. The next call of `show` writes it again.
  void clear() {
    if (shown_) std::fputs("\r\x1b[K", to_);
    shown_ = false;
  }

 private:
  /// Whether standard error is a terminal that can rewrite a line.
  static bool is_terminal() {
    char const* const kind = std::getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && (kind == nullptr || std::string_view(kind) != "dumb");
  }
  /// Computes the rate and the time left from the steps after the first call of `show`. Earlier steps do not count,
  /// because they may have prepared kernels or belong to an earlier run.
  void complete(progress_facts& f, double now) const {
    auto const done = static_cast<double>(f.step - first_step_);
    if (f.units.empty()) f.units = unit_.name;
    if (done <= 0 || now <= first_) return;
    if (f.per_second < 0 && unit_.per_step > 0) f.per_second = done * unit_.per_step / (now - first_);
    if (f.seconds_left < 0 && f.steps > 0)
      f.seconds_left = static_cast<double>(f.steps - f.step) * (now - first_) / done;
  }

  std::FILE* to_;
  bool rewrites_, shown_ = false;
  progress_unit unit_;
  std::int64_t first_step_ = -1;
  double next_ = 0, first_ = 0;
};

}  // namespace meshtensor
