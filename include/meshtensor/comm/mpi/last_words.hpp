// SPDX-License-Identifier: Apache-2.0
// Reports why a rank's process ends in the middle of a job. The reason is its own failure, or that of a neighbour after
// which the launcher ended the whole job.
#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "meshtensor/comm/mpi/neighbours.hpp"

namespace meshtensor::comm {

/// While it lives, it handles the signals that end the process, std::terminate and exit. It prints one line and calls
/// the previous handler. Only the first object of a process does so.
class last_words {
 public:
  last_words(mpi_neighbours& neighbours, int rank) : neighbours_(neighbours), rank_(rank) {
    last_words* none = nullptr;
    if (!of_this_process().compare_exchange_strong(none, this)) return;
    static bool const listens_to_exit = std::atexit(&on_exit) == 0;
    static_cast<void>(listens_to_exit);
    before_terminate_ = std::set_terminate(&on_terminate);
    struct sigaction here{};
    here.sa_sigaction = &on_signal;
    here.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&here.sa_mask);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      ::sigaction(signals[i], nullptr, &before_[i]);
      bool const listens = signals[i] == SIGTERM ? before_[i].sa_handler == SIG_DFL : before_[i].sa_handler != SIG_IGN;
      if (listens) ::sigaction(signals[i], &here, nullptr);
    }
  }
  last_words(last_words const&) = delete;
  last_words& operator=(last_words const&) = delete;
  ~last_words() {
    last_words* me = this;
    if (!of_this_process().compare_exchange_strong(me, nullptr)) return;
    for (std::size_t i = 0; i < signals.size(); ++i) hand_back(i);
    if (std::get_terminate() == &on_terminate) std::set_terminate(before_terminate_);
  }

 private:
  static constexpr std::array signals{SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

  static std::atomic<last_words*>& of_this_process() {
    static std::atomic<last_words*> one = nullptr;
    return one;
  }

  // The object that handles signals. It is null in a forked child, because that is not a rank.
  static last_words* listener() noexcept {
    last_words* const w = of_this_process().load();
    return w != nullptr && w->process_ == ::getpid() ? w : nullptr;
  }

  // Restores a signal's previous handler, unless another one was installed meanwhile.
  void hand_back(std::size_t i) noexcept {
    struct sigaction now{};
    ::sigaction(signals[i], nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &on_signal)
      ::sigaction(signals[i], &before_[i], nullptr);
  }
  static void on_signal(int number, siginfo_t* about, void*) {
    if (last_words* const w = listener()) {
      if (number != SIGTERM) add_signal(w->begin(), number), w->say();
      else if (w->neighbours_.agree()) w->say_who_is_gone();
    }
    last_words* const listens = of_this_process().load();
    for (std::size_t i = 0; i < signals.size(); ++i)
      if (signals[i] == number && listens != nullptr) listens->hand_back(i);
    if (listens == nullptr) std::signal(number, SIG_DFL);
    if (about == nullptr || about->si_code <= 0) ::raise(number);  // a fault occurs again by itself
  }
  [[noreturn]] static void on_terminate() {
    std::terminate_handler next = nullptr;
    if (last_words* const w = listener()) {
      next = w->before_terminate_;
      signal_safe_line& line = w->begin();
      try {
        if (std::current_exception()) throw;
        line << "std::terminate was called";
      } catch (std::exception const& e) { line << e.what() << ", which nothing caught"; } catch (...) {
        line << unknown_exception << ", which nothing caught";
      }
      w->say();
    }
    if (next != nullptr) next();
    std::abort();
  }
  static void on_exit() {
    if (last_words* const w = listener()) w->begin() << "it called exit before the end of the job", w->say();
  }

  signal_safe_line& begin() noexcept {
    line_ = {};
    return line_ << "meshtensor R21: rank " << rank_ << " failed: ";
  }
  void say() noexcept {
    if (neighbours_.speaks_first()) line_.write();
  }
  // Called on SIGTERM. Either the launcher ends the job because a rank has failed, or a user ends this rank or all of
  // them.
  void say_who_is_gone() noexcept {
    int const gone = neighbours_.gone();
    if (!neighbours_.speaks_first()) return;
    line_ = {};
    line_ << "meshtensor R21: ";
    if (gone >= 0) neighbours_.describe(gone, line_);
    else line_ << "rank " << rank_ << " was told to end by SIGTERM";
    line_.write();
  }

  mpi_neighbours& neighbours_;
  int rank_;
  pid_t process_ = ::getpid();
  signal_safe_line line_;
  std::terminate_handler before_terminate_ = nullptr;
  std::array<struct sigaction, signals.size()> before_{};
};

}  // namespace meshtensor::comm
