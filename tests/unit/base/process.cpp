// SPDX-License-Identifier: Apache-2.0
// What a process of this machine is doing: computing, waiting, stopped, gone.
#include "meshtensor/base/process.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace mt = meshtensor;

namespace {

/// Whether a process comes to do that, within a few seconds.
bool comes_to(mt::process_id const& p, mt::activity wanted) {
  for (int i = 0; i < 5000; ++i) {
    if (mt::activity_of(p, mt::this_process()) == wanted) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

mt::process_id child(bool computes) {
  mt::process_id p = mt::this_process();
  p.number = fork();
  for (std::atomic<long> turns = 0; p.number == 0 && computes; ++turns) {}
  while (p.number == 0) pause();
  return p;
}

}  // namespace

TEST_CASE("this process") {
  auto const me = mt::this_process(), again = mt::this_process();
  CHECK(me.number == getpid());
  CHECK(me.place == again.place);
  CHECK(me.text() == "process " + std::to_string(getpid()) + " on " + me.host);
  CHECK(mt::activity_of(me, me) == mt::activity::computes);
}

TEST_CASE("others") {
  auto const busy = child(true), idle = child(false);
  CHECK(comes_to(busy, mt::activity::computes));
  CHECK(comes_to(idle, mt::activity::waits));
  kill(static_cast<pid_t>(busy.number), SIGSTOP);
  CHECK(comes_to(busy, mt::activity::stopped));
  CHECK(text_of(mt::activity::stopped) == std::string("which is stopped by a signal"));
  for (auto const& p : {busy, idle}) {
    kill(static_cast<pid_t>(p.number), SIGKILL);
    CHECK(comes_to(p, mt::activity::gone));  // not waited for yet
    waitpid(static_cast<pid_t>(p.number), nullptr, 0);
    CHECK(comes_to(p, mt::activity::gone));
  }
}

TEST_CASE("a process of another machine is not looked for here") {
  auto const me = mt::this_process();
  auto other = me;
  ++other.place;
  CHECK(mt::activity_of(other, me) == mt::activity::unknown);
}
