// How far a long job is, on standard error: one line that changes in a terminal, a line every ten seconds elsewhere.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include <meshtensor/run/processors.hpp>

namespace transformer {

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class progress_line {
 public:
  explicit progress_line(meshtensor::processors const& job) : job_(job) {}

  /// `all_steps` 0: not known. `left`: seconds until the end.
  void show(std::int64_t step, std::int64_t all_steps, double loss, double bytes_per_second, double left) {
    double const now = seconds_now();
    if (now < next_) return;
    next_ = now + (terminal_ ? 0.2 : 10);
    std::string const of = all_steps == 0 ? "" : fmt::format("/{}", all_steps);
    auto const seconds = static_cast<std::int64_t>(std::max(0.0, left) + 0.5);
    meshtensor::progress(job_, "{}step {}{}  loss {:.4f}  {:.0f} tokens/s  {}:{:02} left{}", terminal_ ? "\r" : "",
                         step, of, loss, bytes_per_second, seconds / 60, seconds % 60, terminal_ ? "\x1b[K" : "\n");
    shown_ = terminal_;
  }
  /// Leaves the terminal's line to others.
  void clear() {
    if (shown_) meshtensor::progress(job_, "\r\x1b[K");
    shown_ = false;
  }

 private:
  meshtensor::processors const& job_;
  bool const terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  double next_ = 0;
};

}  // namespace transformer
