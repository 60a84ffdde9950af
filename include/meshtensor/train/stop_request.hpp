// SPDX-License-Identifier: Apache-2.0
// Tells a training to save and exit, because a signal came or its time is over.
#pragma once

#include <sys/auxv.h>

#include <csignal>
#include <ctime>

#include <array>
#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/job/agree.hpp"

namespace meshtensor {

namespace detail {

/// State shared with the signal handler, which may do nothing but set this state.
struct signals_seen {
  std::atomic<std::int64_t> at = 0;  // the time of the first signal in nanoseconds, 0 if there is none yet
  std::atomic<int> number = 0;       // the number of the first signal, set after its time
  std::atomic<int> listeners = 0;    // stop requests that exist
  static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);
};
inline signals_seen& seen_signals() {
  static signals_seen all;
  return all;
}

/// The signal handler. A second SIGINT or SIGTERM ends the program, as if there were no handler. However, launchers
/// send one request both to a process and to its group, so two signals within 0.3 seconds count as one.
inline void note_signal(int number) {
  constexpr std::int64_t one_request = 300'000'000;
  signals_seen& seen = seen_signals();
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  std::int64_t const at = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  std::int64_t first = 0;
  if (seen.at.compare_exchange_strong(first, at)) {
    seen.number = number;
    return;
  }
  if (number == SIGUSR1 || at - first < one_request) return;
  std::signal(number, SIG_DFL);
  std::raise(number);
}

/// An alternate signal stack for the thread that makes it, as long as the object exists. It is needed because kernels
/// of oneDNN keep numbers below the end of the program's stack, farther down than the red zone that a handler
/// preserves.
class signal_stack {
 public:
  signal_stack() {
    ::sigaltstack(nullptr, &before_);
    if ((before_.ss_flags & SS_DISABLE) == 0) return;  // the thread has one already
    constexpr std::size_t for_the_handler = 1 << 16;
    memory_.resize(::getauxval(AT_MINSIGSTKSZ) + for_the_handler);  // the registers alone may need more than SIGSTKSZ
    stack_t own{};
    own.ss_sp = memory_.data(), own.ss_size = memory_.size();
    ::sigaltstack(&own, nullptr);
  }
  signal_stack(signal_stack const&) = delete;
  ~signal_stack() {
    stack_t now{};
    ::sigaltstack(nullptr, &now);
    if (!memory_.empty() && now.ss_sp == memory_.data()) ::sigaltstack(&before_, nullptr);
  }

 private:
  std::vector<std::byte> memory_;
  stack_t before_{};
};

}  // namespace detail

/// Reasons besides signals for which a `stop_request` asks for the end of the program.
struct stop_options {
  /// Seconds after which the program should exit. With 0, it exits only on a signal.
  double seconds = 0;
};

/// Tells whether the program should save and exit. Call it once a step. All processes get the same result. It becomes
/// true once any process has received SIGINT, SIGTERM or SIGUSR1, or any process is out of time.
///
///     mt::stop_request stop(job, {.seconds = limit});
///     while (…) {
///       step(…);
///       if (stop()) {
///         keep.save(), keep.finish();
///         return mt::stop_request::exit_code;
///       }
///     }
///
/// As long as the object exists, it handles these signals, also during a step. Its destructor restores the earlier
/// handlers. Make it on the program's first thread, because this thread receives the signals. A signal that was ignored
/// stays ignored. A second SIGINT or SIGTERM ends the program at once.
///
/// errors  R33 the seconds are negative or not a number
class stop_request {
 public:
  /// The exit code of a program that stopped early and should be started again with the same command (EX_TEMPFAIL of
  /// sysexits.h).
  static constexpr int exit_code = 75;

  /// Collective: all processes make it.
  template <class P>
  requires std::constructible_from<agreement, P&>
  explicit stop_request(P& p, stop_options const& how = {})
      : greatest_(p), seconds_(how.seconds), began_(std::chrono::steady_clock::now()) {
    if (!(seconds_ >= 0))
      throw error("R33", {"a program cannot leave after ", std::to_string(seconds_),
                          " seconds: give a number of seconds that is not negative; 0: no limit"});
    detail::signals_seen& seen = detail::seen_signals();
    if (seen.listeners++ == 0) seen.number = 0, seen.at = 0;
    struct sigaction here{};
    here.sa_handler = &detail::note_signal;
    here.sa_flags = SA_RESTART | SA_ONSTACK;
    ::sigemptyset(&here.sa_mask);
    for (int const s : signals) ::sigaddset(&here.sa_mask, s);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      ::sigaction(signals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &here, nullptr);
    }
  }
  stop_request(stop_request const&) = delete;
  stop_request& operator=(stop_request const&) = delete;
  ~stop_request() {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
    --detail::seen_signals().listeners;
  }

  /// Collective: all processes call it. Once true, it stays true.
  bool operator()() {
    if (why_ != 0) return true;
    std::chrono::duration<double> const taken = std::chrono::steady_clock::now() - began_;
    int mine = detail::seen_signals().number;
    if (mine == 0 && seconds_ != 0 && taken.count() >= seconds_) mine = time_limit;
    why_ = static_cast<int>(greatest_(mine));
    return why_ != 0;
  }

  /// The reason of the stop, for example "SIGTERM" or "the time limit". It is empty as long as the call has not
  /// returned true, and it is the same on all processes.
  char const* reason() const {
    switch (why_) {
      case 0: return "";
      case SIGINT: return "SIGINT";
      case SIGTERM: return "SIGTERM";
      case SIGUSR1: return "SIGUSR1";
      default: return "the time limit";
    }
  }

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGUSR1};
  static constexpr int time_limit = 1 << 16;

  detail::signal_stack stack_;
  agreement greatest_;
  double seconds_;
  std::chrono::steady_clock::time_point began_;
  std::array<struct sigaction, signals.size()> before_{};
  int why_ = 0;
};

}  // namespace meshtensor
