// SPDX-License-Identifier: Apache-2.0
// What a program prints where nothing can be written: one warning, and the program goes on.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/job/job.hpp"

namespace mt = meshtensor;

TEST_CASE("standard output and standard error on a disk that is full") {
  int const full = ::open("/dev/full", O_WRONLY);
  if (full < 0) return;  // only some systems have it
  std::vector<std::string> said;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& s) { said.push_back(s); });
  auto const job = mt::job::as_threads();
  std::fflush(stdout), std::fflush(stderr);
  int const out = ::dup(STDOUT_FILENO), err = ::dup(STDERR_FILENO);
  ::dup2(full, STDOUT_FILENO), ::dup2(full, STDERR_FILENO);
  bool threw = false;
  try {
    for (int i = 0; i < 5; ++i)
      mt::print(job, "{}\n", std::string(100'000, 'x')), mt::print(job, "y\n"), mt::progress(job, "step {}\n", i);
  } catch (std::exception const&) { threw = true; }
  ::dup2(out, STDOUT_FILENO), ::dup2(err, STDERR_FILENO);
  std::clearerr(stdout), std::clearerr(stderr);
  for (int const fd : {full, out, err}) ::close(fd);
  mt::on_warning() = before;
  CHECK_FALSE(threw);
  CHECK(
      said ==
      std::vector<std::string>{
          "R17: standard output cannot be written, No space left on device: results are lost; the program continues"});
}
