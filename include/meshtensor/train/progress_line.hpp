// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a long job: one line that is rewritten in a terminal, a line every ten seconds elsewhere.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "meshtensor/job/job.hpp"

namespace meshtensor {

/// Seconds of a monotonic clock.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// `0:07`, `12:31`, `1:02:31`
inline std::string clock_text(double seconds) {
  auto const s = static_cast<std::int64_t>(std::min(std::max(0.0, seconds), 1e15) + 0.5);
  return s < 3600 ? fmt::format("{}:{:02}", s / 60, s % 60)
                  : fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

/// The progress of a training.
struct progress_facts {
  std::int64_t step = 0, steps = 0;  // done; in all, 0: unknown
  double loss = 0, per_second = 0;
  double seconds_left = 0;
  std::string_view units = "tokens";  // of what so many are learnt from in a second
  double waiting = -1;                // the share of the time that steps have waited for data; negative: not said
};
/// `step 120/2940  loss 5.8970  4437 tokens/s  12:31 left`, with `  2 % waiting for data` before the time if it is
/// known.
inline std::string text_of(progress_facts const& f) {
  std::string const of = f.steps == 0 ? "" : fmt::format("/{}", f.steps);
  std::string const waits = f.waiting < 0 ? "" : fmt::format("  {:.0f} % waiting for data", 100 * f.waiting);
  return fmt::format("step {}{}  loss {:.4f}  {:.0f} {}/s{}  {} left", f.step, of, f.loss, f.per_second, f.units, waits,
                     clock_text(f.seconds_left));
}

/// Shows progress on standard error, from one process of a job, as often as a reader can follow. `line.show({…})` after
/// each step costs next to nothing.
class progress_line {
 public:
  explicit progress_line(job const& job)
      : progress_line(job.is_root() ? stderr : nullptr, isatty(STDERR_FILENO) != 0) {}
  /// Writes to another file, or nowhere. `rewrites`: each line overwrites the last one.
  progress_line(std::FILE* to, bool rewrites) : to_(to), rewrites_(rewrites) {}
  progress_line(progress_line const&) = delete;
  ~progress_line() { clear(); }

  void show(progress_facts const& facts, double now = seconds_now()) {
    if (to_ == nullptr || now < next_) return;
    next_ = now + (rewrites_ ? 0.2 : 10);
    std::string const line = text_of(facts);
    std::fputs((rewrites_ ? "\r" + line + "\x1b[K" : line + "\n").c_str(), to_);
    std::fflush(to_);
    shown_ = rewrites_;
  }
  /// Clears the terminal's line for other output, until progress is next shown.
  void clear() {
    if (shown_) std::fputs("\r\x1b[K", to_);
    shown_ = false;
  }

 private:
  std::FILE* to_;
  bool rewrites_, shown_ = false;
  double next_ = 0;
};

}  // namespace meshtensor
