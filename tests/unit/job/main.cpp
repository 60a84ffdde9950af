// SPDX-License-Identifier: Apache-2.0
// The frame of a main function: exit codes, and one line for what was thrown.
#include "meshtensor/job/main.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <string>

#include "meshtensor/job/agree.hpp"

namespace mt = meshtensor;

namespace {

// What a function writes to standard error.
template <class F>
std::string said(F f) {
  std::fflush(stderr);
  std::FILE* const file = std::tmpfile();
  int const before = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  f();
  std::fflush(stderr);
  dup2(before, STDERR_FILENO);
  close(before);
  std::string text(static_cast<std::size_t>(std::ftell(file) < 0 ? 0 : lseek(fileno(file), 0, SEEK_CUR)), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

}  // namespace

TEST_CASE("the program's own exit code") {
  bool is_root = false;
  auto const program = [&](mt::job const& job) {
    is_root = job.is_root();
    return 7;
  };
  CHECK(mt::run_main(0, nullptr, program) == 7);
  CHECK(is_root);
}

TEST_CASE("what is thrown is one line and exit code 1") {
  int code = 0;
  std::string const own = said([&] {
    code = mt::run_main(0, nullptr, [](auto const&) -> int { throw mt::error("R40", "there is no such text"); });
  });
  CHECK(code == 1);
  CHECK(own == "meshtensor R40: there is no such text\n");
  std::string const other =
      said([&] { code = mt::run_main(0, nullptr, [](auto const&) -> int { throw std::bad_alloc(); }); });
  CHECK(code == 1);
  CHECK(other == "std::bad_alloc\n");
}

TEST_CASE("a process alone agrees with itself") {
  auto const job = mt::job::as_threads();
  mt::agreement greatest(job);
  CHECK(greatest(2.5) == 2.5);
  CHECK(greatest(-1) == -1);
}
