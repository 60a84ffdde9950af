// SPDX-License-Identifier: Apache-2.0
// Event files: their frame and names, whole after every event; tests/unit/train/event_file_reader.cpp has them read.
#include "meshtensor/train/event_file.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using folder = meshtensor_test::temporary_folder;

namespace {

std::uint64_t number(std::string const& bytes, std::size_t at, std::size_t count) {
  std::uint64_t n = 0;
  for (std::size_t i = count; i-- > 0;) n = n << 8 | static_cast<unsigned char>(bytes[at + i]);
  return n;
}
/// The records of a file, each with checksums that fit; what is cut off is none.
std::vector<std::string> records(std::string const& file) {
  auto const fits = [&](std::size_t at, std::size_t size) {
    std::uint32_t const sum = mt::crc32c(std::string_view(file).substr(at, size));
    return number(file, at + size, 4) == static_cast<std::uint32_t>((sum >> 15 | sum << 17) + 0xa282ead8u);
  };
  std::vector<std::string> all;
  for (std::size_t at = 0; at + 16 <= file.size();) {
    std::size_t const size = number(file, at, 8);
    REQUIRE(fits(at, 8));
    if (at + 16 + size > file.size()) break;
    REQUIRE(fits(at + 12, size));
    all.push_back(file.substr(at + 12, size));
    at += 16 + size;
  }
  return all;
}

}  // namespace

TEST_CASE("what every event file begins with") {
  folder const f;
  mt::event_file const events(f / "runs/first");
  std::string const name = events.path().filename().string(), bytes = f.read("runs/first/" + name);
  CHECK(name.starts_with("events.out.tfevents."));
  CHECK(name.find('.', 20) == 30);  // ten digits
  CHECK(bytes.substr(0, 13) == std::string("\x18\0\0\0\0\0\0\0\xa3\x7fK\"\x09", 13));
  CHECK(bytes.substr(21, 15) ==
        "\x1a\x0d"
        "brain.Event:2");
  CHECK(records(bytes).size() == 2);
}

TEST_CASE("every event is in the file when it was given") {
  folder const f;
  mt::event_file events(f.path);
  std::string const name = events.path().filename().string();
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(records(f.read(name)).size() == 2 + i);
    if (i % 3 == 0) events.text("sample", std::string(100 * i, 'x'), static_cast<std::int64_t>(i));
    else events.scalar("loss", 1.5, static_cast<std::int64_t>(i));
  }
  std::string const whole = f.read(name);
  std::size_t const last = records(whole).back().size() + 16;
  for (std::size_t cut = 1; cut <= last; ++cut) CHECK(records(whole.substr(0, whole.size() - cut)).size() == 21);
}

TEST_CASE("a number of a step") {
  folder const f;
  mt::event_file events(f.path);
  events.scalar("loss/train", 0.5, 300);
  std::string const record = records(f.read(events.path().filename().string())).back();
  CHECK(record.substr(9) == std::string("\x10\xac\x02\x2a\x13\x0a\x11\x0a\x0aloss/train\x15\0\0\0\x3f", 24));
}

TEST_CASE("files that are begun at once have names of their own, in order") {
  folder const f;
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) names.push_back(mt::event_file(f.path).path().string());
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == 5);
  CHECK(std::is_sorted(names.begin(), names.end()));
}

namespace {
/// What was warned of while it lives.
struct warnings {
  std::vector<std::string> all;
  std::function<void(std::string const&)> before =
      std::exchange(mt::on_warning(), [this](std::string const& sentence) { all.push_back(sentence); });
  ~warnings() { mt::on_warning() = before; }
};
}  // namespace

TEST_CASE("a file that cannot be begun is one warning") {
  folder const f;
  f.write("file", "");
  warnings said;
  mt::event_file events(f / "file/inside");
  CHECK_FALSE(events.good());
  events.scalar("loss", 1, 1), events.text("sample", "x", 1);
  REQUIRE(said.all.size() == 1);
  CHECK(said.all[0].starts_with("R17: '"));
  CHECK(said.all[0].find("cannot be written, Not a directory") != std::string::npos);
  CHECK_THROWS_WITH_AS(events.scalar("caf\xe9", 1, 1), doctest::Contains("R51: "), mt::error);
}

TEST_CASE("a disk that is full is one warning, and what is there stays whole") {
  folder const f;
  warnings said;
  mt::event_file events(f.path);
  std::string const name = events.path().filename().string();
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  events.scalar("loss", 1, 1);
  rlimit const full{f.read(name).size() + 20, before.rlim_max};  // in the middle of the next event
  setrlimit(RLIMIT_FSIZE, &full);
  for (int i = 2; i < 9; ++i) events.scalar("loss", 1, i);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  events.scalar("loss", 1, 9);  // there is room again: what has gaps is drawn as if it had none
  CHECK_FALSE(events.good());
  REQUIRE(said.all.size() == 1);
  CHECK(said.all[0].find("cannot be written, File too large: the scores from here on are lost") != std::string::npos);
  std::string const there = f.read(name);
  CHECK(records(there).size() == 3);
  CHECK(there.size() + 20 == full.rlim_cur);
}
