// SPDX-License-Identifier: Apache-2.0
// Whether a program should leave: signals, the time limit, and what is left when nobody listens any more.
#include "meshtensor/train/stop_request.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "meshtensor/job/job.hpp"

namespace mt = meshtensor;

namespace {

std::sig_atomic_t volatile seen_before = 0;
void earlier(int) { seen_before = seen_before + 1; }

/// Runs a program in a process of its own: what waitpid says of it.
template <class F>
int status_of(F const& f) {
  pid_t const child = ::fork();
  if (child == 0) f(), std::_Exit(7);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}
void wait_a_little() { std::this_thread::sleep_for(std::chrono::milliseconds(400)); }

}  // namespace

TEST_CASE("each signal is a reason, and stays one") {
  auto const job = mt::job::as_threads();
  for (auto const& [number, name] : {std::pair{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGUSR1, "SIGUSR1"}}) {
    mt::stop_request stop(job);
    CHECK_FALSE(stop());
    CHECK(stop.reason() == std::string());
    std::raise(number);
    CHECK(stop());
    CHECK(stop.reason() == std::string(name));
    CHECK(stop());
  }
  mt::stop_request another(job);  // begins anew
  CHECK_FALSE(another());
}

TEST_CASE("one inside another: both are told, and both leave what was there before") {
  std::signal(SIGUSR1, &earlier);
  {
    auto const job = mt::job::as_threads();
    mt::stop_request outer(job);
    {
      mt::stop_request inner(job);
      std::thread([] { std::raise(SIGUSR1); }).join();
      CHECK(inner());
    }
    CHECK(outer());
    CHECK(seen_before == 0);
  }
  std::raise(SIGUSR1);
  CHECK(seen_before == 1);
  std::signal(SIGUSR1, SIG_DFL);
}

TEST_CASE("the time limit") {
  auto const job = mt::job::as_threads();
  mt::stop_request none(job), far(job, {.seconds = 3600}), soon(job, {.seconds = 0.02});
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  CHECK_FALSE(none());
  CHECK_FALSE(far());
  CHECK(soon());
  CHECK(soon.reason() == std::string("the time limit"));
  CHECK_THROWS_WITH_AS(mt::stop_request(job, {.seconds = -1}),
                       doctest::Contains("R33: a program cannot leave after -1"), mt::error);
  CHECK_THROWS_AS(mt::stop_request(job, {.seconds = 0.0 / 0.0}), mt::error);
}

TEST_CASE("a second signal ends the program; the same one twice at once does not") {
  auto const twice = [](int first, int second, bool at_once) {
    return status_of([&] {
      auto const job = mt::job::as_threads();
      mt::stop_request stop(job);
      std::raise(first);
      if (!at_once) wait_a_little();
      std::raise(second);
    });
  };
  int const ended = twice(SIGTERM, SIGTERM, false);
  CHECK((WIFSIGNALED(ended) && WTERMSIG(ended) == SIGTERM));
  int const other = twice(SIGUSR1, SIGINT, false);
  CHECK((WIFSIGNALED(other) && WTERMSIG(other) == SIGINT));
  // At once is within 0.3 s, which a busy machine may take between two signals.
  int same = 0;
  for (bool is_slow = true; is_slow;) {
    auto const begin = std::chrono::steady_clock::now();
    same = twice(SIGTERM, SIGTERM, true);
    is_slow = std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(300);
  }
  int const again = twice(SIGTERM, SIGUSR1, false);
  CHECK((WIFEXITED(same) && WEXITSTATUS(same) == 7));
  CHECK((WIFEXITED(again) && WEXITSTATUS(again) == 7));
}

TEST_CASE("a signal that was ignored stays so") {
  int const status = status_of([] {
    std::signal(SIGINT, SIG_IGN);
    auto const job = mt::job::as_threads();
    mt::stop_request stop(job);
    std::raise(SIGINT);
    if (stop()) std::_Exit(1);
  });
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
}

TEST_CASE("a handler runs on a stack of its own: kernels use what is below theirs") {
  auto const has_stack = [] {
    stack_t now{};
    ::sigaltstack(nullptr, &now);
    return (now.ss_flags & SS_DISABLE) == 0;
  };
  bool const before = has_stack();
  auto const job = mt::job::in_lockstep();
  {
    mt::stop_request const stop(job);
    struct sigaction now{};
    ::sigaction(SIGTERM, nullptr, &now);
    CHECK(has_stack());
    CHECK((now.sa_flags & SA_ONSTACK) != 0);
  }
  CHECK(has_stack() == before);
}
