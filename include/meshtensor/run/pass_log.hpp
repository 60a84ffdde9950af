// SPDX-License-Identifier: Apache-2.0
// Prints the module after a step of lowering (MESHTENSOR_PRINT_AFTER=fuse, or all) and the time of each step
// (MESHTENSOR_TIME_PASSES=1), if environment variables request it. If the compiler has run the steps, there is nothing
// to print.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/emit/print.hpp"
#include "meshtensor/pass/lower.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {
inline std::string_view asked_of_passes(char const* variable) {
  char const* const given = std::getenv(variable);
  return given == nullptr ? "" : given;
}
}  // namespace detail

/// Says that the compiler has run the passes, if environment variables request output from them.
inline void say_that_passes_have_run(name const& program) {
  if (detail::asked_of_passes("MESHTENSOR_PRINT_AFTER").empty() &&
      detail::asked_of_passes("MESHTENSOR_TIME_PASSES") != "1")
    return;
  std::fprintf(stderr,
               "meshtensor: the compiler has run the passes of %s: compile with MESHTENSOR_EARLY=0 to see them\n",
               program.text().c_str());
}

/// Prints the output about one executable's passes to standard error, as far as environment variables request it.
class pass_log final : public pass_observer {
 public:
  /// `is_root` says whether this rank prints. `label` is the program's name.
  pass_log(bool is_root, std::string label)
      : print_after_(is_root ? detail::asked_of_passes("MESHTENSOR_PRINT_AFTER") : ""),
        times_(is_root && detail::asked_of_passes("MESHTENSOR_TIME_PASSES") == "1"),
        label_(std::move(label)) {}
  ~pass_log() override {
    if (spans_.empty()) return;
    double all = 0;
    for (auto const& [pass, milliseconds] : spans_) all += milliseconds;
    std::fprintf(stderr, "passes of %s, %.1f ms\n", label_.c_str(), all);
    for (auto const& [pass, milliseconds] : spans_)
      std::fprintf(stderr, "  %-18s %8.2f ms %5.1f %%\n", pass, milliseconds, all > 0 ? 100 * milliseconds / all : 0);
  }
  pass_log(pass_log const&) = delete;

  void begins(char const*) override { begin_ = std::chrono::steady_clock::now(); }
  void ends(char const* pass, module const& m) override {
    note_time(pass);
    if (print_after_ == "all" || print_after_ == pass) print(pass, text_of(m));
  }
  void planned(char const* step, module const& m) override {
    note_time(step);
    if (print_after_ == step) print(step, text_of(m));
    else if (print_after_ == "all") print(step, "(no change)\n");
  }

 private:
  void note_time(char const* step) {
    std::chrono::duration<double, std::milli> const span = std::chrono::steady_clock::now() - begin_;
    if (times_) spans_.emplace_back(step, span.count());
  }
  void print(char const* step, std::string const& text) const {
    std::fprintf(stderr, "---- %s after %s ----\n%s", label_.c_str(), step, text.c_str());
  }

  std::string print_after_;
  bool times_;
  std::string label_;
  std::chrono::steady_clock::time_point begin_;
  std::vector<std::pair<char const*, double>> spans_;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
