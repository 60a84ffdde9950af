// SPDX-License-Identifier: Apache-2.0
// A file that is made when it is first wanted: once, whoever wants it, and whole or not at all.
#include "meshtensor/datasets/cached_file.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>
#include <vector>

#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using folder = meshtensor_test::temporary_folder;

TEST_CASE("made once, and kept") {
  folder const f;
  int made = 0;
  auto const make = [&] { return "number " + std::to_string(++made); };
  mt::datasets::keep_file(f / "a/b/one", make);
  mt::datasets::keep_file(f / "a/b/one", make);
  mt::datasets::keep_file(f / "a/b/two", make);
  CHECK(made == 2);
  CHECK(f.read("a/b/one") == "number 1");
  CHECK(f.read("a/b/two") == "number 2");
  CHECK(std::distance(std::filesystem::directory_iterator(f / "a/b"), {}) == 2);
}

TEST_CASE("what fails leaves no file") {
  folder const f;
  auto const fail = []() -> std::string { throw mt::error("R40", "no text"); };
  CHECK_THROWS_WITH_AS(mt::datasets::keep_file(f / "one", fail), doctest::Contains("no text"), mt::error);
  CHECK(f.files() == 0);
  mt::datasets::keep_file(f / "one", [] { return std::string(); });
  CHECK(std::filesystem::exists(f / "one"));
  auto const make = [] { return std::string("x"); };
  CHECK_THROWS_WITH_AS(mt::datasets::keep_file(f / "one/two", make), doctest::Contains("R17: the folder '"), mt::error);
  std::string const long_name(300, 'x');
  CHECK_THROWS_WITH_AS(mt::datasets::keep_file(f / long_name, make),
                       doctest::Contains("cannot be written, File name too long"), mt::error);
  CHECK(f.files() == 1);
}

TEST_CASE("threads that want it at once") {
  folder const f;
  std::atomic<int> made = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < 8; ++i)
    all.emplace_back([&] {
      mt::datasets::keep_file(f / "one", [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::string(100000, static_cast<char>('a' + made++));
      });
      CHECK(f.read("one") == std::string(100000, 'a'));
    });
  for (auto& t : all) t.join();
  CHECK(made == 1);
}

TEST_CASE("processes that want it at once") {
  folder const f;
  for (int i = 0; i < 4; ++i)
    if (fork() == 0) {
      mt::datasets::keep_file(f / "kept/one", [&] {
        std::ofstream(f / "calls", std::ios::app) << "x";
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::string("bytes");
      });
      _exit(f.read("kept/one") == "bytes" ? 0 : 1);
    }
  for (int i = 0; i < 4; ++i) {
    int status = -1;
    wait(&status);
    CHECK(status == 0);
  }
  CHECK(f.read("calls") == "x");
}
