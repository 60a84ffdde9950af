// SPDX-License-Identifier: Apache-2.0
// A new file appears whole or not at all, whatever call of the system fails, is interrupted, or is the last one.
#include "meshtensor/io/file.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "support/faults.hpp"
#include "support/folder.hpp"
#include "support/skip.hpp"

namespace mt = meshtensor;
using meshtensor_test::content;
using meshtensor_test::sentence;

namespace {

void write_new(std::string const& path, std::string const& text) {
  mt::io::new_file f(path);
  f.write(text.substr(0, 3));
  f.write(text.substr(3));
  f.commit();
}
std::int64_t files_in(std::string const& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
}

}  // namespace

TEST_CASE("a file is replaced as a whole") {
  meshtensor_test::own_folder const folder;
  std::string const path = folder / "f";
  write_new(path, "the first");
  CHECK(content(path) == "the first");
  {
    mt::io::new_file f(path);
    f.write(std::string("half"));
    CHECK(content(path) == "the first");
  }
  CHECK(content(path) == "the first");
  CHECK(files_in(folder.path()) == 1);
  write_new(path, "the second");
  CHECK(content(path) == "the second");
}

TEST_CASE("whatever call fails, it is said, and what was there stays") {
  meshtensor_test::own_folder const folder;
  std::string const path = folder / "f";
  write_new(path, "as it was");
  int tried = 0;
  for (auto const& [problem, words] : {std::pair{ENOSPC, "No space left on device"},
                                       {EIO, "Input/output error"},
                                       {EDQUOT, "Disk quota exceeded"},
                                       {EACCES, "Permission denied"}})
    for (int at = 0;; ++at, ++tried) {
      faults::begin({faults::kind::fails, at, problem, folder.path().c_str()});
      std::string const said = sentence([&] { write_new(path, "something else"); });
      bool const met = faults::met;
      faults::end();
      if (!met) break;
      INFO(at << " " << said);
      CHECK(said.find(words) != std::string::npos);
      CHECK(said.starts_with("meshtensor C01: '" + folder.path()));
      // Once it is renamed it is the new one; that its folder could not be synchronised is said all the same.
      CHECK((content(path) == "as it was" || content(path) == "something else"));
      CHECK(files_in(folder.path()) == 1);
      if (content(path) == "something else") write_new(path, "as it was");
    }
  CHECK(tried >= 4 * 6);
}

TEST_CASE("what is interrupted or cut short goes on") {
  meshtensor_test::own_folder const folder;
  std::string const path = folder / "f";
  std::string const text(1000, 'x');
  for (auto const kind : {faults::kind::interrupts, faults::kind::cuts})
    for (int at = 0; at < 20; ++at) {
      std::filesystem::remove(path);
      faults::begin({kind, at, 0, folder.path().c_str()});
      // Neither mkdir nor rename is ever interrupted.
      std::string const said = sentence([&] { write_new(path, text); });
      bool const met = faults::met;
      faults::end();
      CHECK((said == "" || said.find("Interrupted") != std::string::npos));
      if (said.empty()) CHECK(content(path) == text);
      faults::begin({kind, at, 0, folder.path().c_str()});
      if (said.empty()) {
        mt::io::file const f(path);
        std::string read(1000, ' ');
        f.read(0, std::as_writable_bytes(std::span(read)));
        CHECK(read == text);
      }
      faults::end();
      if (!met) break;
    }
}

TEST_CASE("a process that is killed leaves the old file or the new one") {
  meshtensor_test::own_folder const folder;
  std::string const path = folder / "f";
  int tried = 0;
  for (int at = 0;; ++at, ++tried) {
    write_new(path, "as it was");
    pid_t const child = ::fork();
    if (child == 0) {
      faults::begin({faults::kind::kills, at, 0, folder.path().c_str()});
      write_new(path, "something else");
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    std::string const now = content(path);
    CHECK((now == "as it was" || now == "something else"));
    if (WIFEXITED(status)) {
      CHECK(now == "something else");
      break;
    }
  }
  CHECK(tried >= 6);
}

TEST_CASE("the system's own refusals") {
  meshtensor_test::own_folder const folder;
  CHECK(sentence([&] { write_new(folder / "absent/f", "x"); }) ==
        "meshtensor C01: '" + (folder / "absent/f") + "' cannot be written: No such file or directory");
  // A file may be no longer than this. The signal that comes with it would end the process.
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit const small{4096, before.rlim_max};
  ::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::string const said = sentence([&] { write_new(folder / "large", std::string(10000, 'x')); });
  ::setrlimit(RLIMIT_FSIZE, &before);
  CHECK(said == "meshtensor C01: '" + (folder / "large") + "' cannot be written: File too large");
  CHECK(files_in(folder.path()) == 0);
  if (::geteuid() != 0) {
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    CHECK(sentence([&] { write_new(folder / "f", "x"); }).ends_with("cannot be written: Permission denied"));
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  }
}

TEST_CASE("ranges of a file") {
  meshtensor_test::own_folder const folder;
  meshtensor_test::set_content(folder / "f", "0123456789");
  mt::io::file const f(folder / "f");
  CHECK(f.size() == 10);
  std::string some(4, ' ');
  f.read(3, std::as_writable_bytes(std::span(some)));
  CHECK(some == "3456");
  meshtensor_test::set_content(folder / "f", "012");  // cut while it is open
  CHECK(sentence([&] { f.read(0, std::as_writable_bytes(std::span(some))); }) ==
        "meshtensor C02: '" + (folder / "f") + "' cannot be read: it ends at byte 3, 1 too early");
}
