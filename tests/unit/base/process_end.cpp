// SPDX-License-Identifier: Apache-2.0
// The end of another process: that it has come, and how; a line that takes no memory.
#include "meshtensor/base/process_end.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

namespace mt = meshtensor;

namespace {

template <class F>
pid_t child(F const& f) {
  pid_t const p = ::fork();
  if (p == 0) f();
  return p;
}
[[noreturn]] void lives() {
  while (true) ::pause();
}
std::string described(mt::process_end const& end) {
  mt::signal_safe_line line;
  end.describe(line);
  return std::string(line.text());
}
void wait_for(mt::process_end const& end) {
  while (!end.has_come()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}
/// Older systems do not tell.
bool is(std::string const& said, std::string const& wanted) { return said == wanted || said == "is gone"; }

}  // namespace

TEST_CASE("a process that is killed, before and after its parent knows") {
  pid_t const p = child(lives);
  mt::process_end end(p);
  CHECK_FALSE(end.has_come());
  ::kill(p, SIGKILL);
  wait_for(end);
  ::waitpid(p, nullptr, 0);
  CHECK(end.has_come());
  CHECK(is(described(end), "was killed by SIGKILL"));
  mt::process_end moved(std::move(end));
  CHECK(moved.has_come());
  CHECK(mt::process_end(p).has_come());  // too late to learn more
  CHECK(described(mt::process_end(p)) == "is gone");
}

TEST_CASE("a process that exits") {
  pid_t const p = child([] {
    ::usleep(20000);
    ::_exit(3);
  });
  mt::process_end const end(p);
  wait_for(end);
  ::waitpid(p, nullptr, 0);
  CHECK(is(described(end), "exited with code 3"));
}

TEST_CASE("a line") {
  mt::signal_safe_line line;
  line << "rank " << std::int64_t{-12} << " of " << std::int64_t{7};
  CHECK(line.text() == "rank -12 of 7");
  mt::add_signal(line << ": ", SIGSEGV);
  mt::add_signal(line << ", ", 61);
  CHECK(line.text() == "rank -12 of 7: SIGSEGV, signal 61");
  for (int i = 0; i < 1000; ++i) line << "more";
  CHECK(line.text().size() > 1000);
  CHECK(line.text().size() < 1024);
}
