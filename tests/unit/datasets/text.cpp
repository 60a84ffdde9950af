// SPDX-License-Identifier: Apache-2.0
// Texts as windows: what is learnt and what is held out never meet; the bigram model; what is written.
#include "meshtensor/datasets/text/text.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "meshtensor/datasets/text/bigram.hpp"
#include "meshtensor/datasets/text/lines.hpp"
#include "meshtensor/datasets/text/sample.hpp"

namespace mt = meshtensor;

namespace {

std::vector<std::uint8_t> bytes_of(std::string const& s) { return {s.begin(), s.end()}; }

// Every four bytes say where they stand.
std::vector<std::uint8_t> counted(std::size_t size) {
  std::vector<std::uint8_t> b(size);
  for (std::size_t i = 0; i < size; ++i) b[i] = i % 4 == 3 ? 0xff : i / 4 >> 7 * (2 - i % 4) & 0x7f;
  return b;
}
// Where a window of that begins: its first four bytes from a multiple of four.
std::size_t place_of(std::uint8_t const* w) {
  std::size_t r = 0;
  while (w[r] != 0xff) ++r;
  std::uint8_t const* const group = w + r + 1;
  return (std::size_t{group[0]} << 14 | std::size_t{group[1]} << 7 | group[2]) * 4 - r - 1;
}

}  // namespace

TEST_CASE("files") {
  auto const folder = std::filesystem::temp_directory_path() / ("meshtensor_text_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "b");
  std::ofstream(folder / "b/one.txt") << "one";
  std::ofstream(folder / "a.txt") << "two\n";
  std::ofstream(folder / "c.bin") << "no";
  std::ofstream(folder / "empty.txt").flush();
  CHECK(mt::datasets::read_text(folder / "b/one.txt") == bytes_of("one"));
  CHECK(mt::datasets::read_texts(folder, {".txt"}) == bytes_of("two\none"));
  CHECK(mt::datasets::read_lines(folder / "a.txt") == std::vector<std::string>{"two"});
  auto const refused = [&](std::filesystem::path const& file, std::string const& why) {
    CHECK_THROWS_WITH_AS(mt::datasets::read_text(file),
                         ("meshtensor R40: the text '" + file.string() + "' " + why).c_str(), mt::error);
  };
  refused(folder / "absent", "cannot be read: No such file or directory");
  refused(folder / "a.txt/x", "cannot be read: Not a directory");
  refused(folder / "empty.txt", "is empty: there is nothing to learn from");
  refused(folder, "is a folder: name a file");
  refused("/proc/self/mem", "cannot be read: Input/output error");  // it can be opened
  std::string const why = " is zero: if it is compressed, unpack it first; if it is UTF-16, convert it to UTF-8";
  std::ofstream(folder / "packed.gz") << "\x1f\x8b\b" << '\0' << "packed";
  refused(folder / "packed.gz", "is no text, for byte 3" + why);
  std::ofstream(folder / "late.txt") << std::string(100000, 'x') << '\0';
  refused(folder / "late.txt", "is no text, for byte 100000" + why);
  refused("/dev/zero", "is no text, for byte 0" + why);       // without an end
  std::ofstream(folder / "latin.txt") << "caf\xe9 \xff\xc3";  // no UTF-8
  CHECK(mt::datasets::read_text(folder / "latin.txt") == bytes_of("caf\xe9 \xff\xc3"));
  std::filesystem::permissions(folder / "a.txt", std::filesystem::perms::none);
  if (::geteuid() != 0) refused(folder / "a.txt", "cannot be read: Permission denied");  // root may read all
#if !MESHTENSOR_WITH_ZLIB
  std::ofstream(folder / "d.gz") << "packed";
  CHECK_THROWS_WITH_AS(mt::datasets::read_lines(folder / "d.gz"), doctest::Contains("R52: '"), mt::error);
  CHECK_THROWS_WITH_AS(mt::datasets::read_lines(folder / "d.gz"), doctest::Contains("was built without zlib"),
                       mt::error);
#endif
  std::filesystem::remove_all(folder);
}

TEST_CASE("files of a folder: in the order of their paths, and none is left out silently") {
  auto const folder = std::filesystem::temp_directory_path() / ("meshtensor_texts_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "closed/below");
  std::string expected;
  for (int i = 99; i >= 10; --i) std::ofstream(folder / ("closed/" + std::to_string(i) + ".txt")) << i;
  for (int i = 10; i <= 99; ++i) expected += std::to_string(i);
  std::ofstream(folder / "closed/below/x.txt") << "below";
  std::ofstream(folder / "last.txt") << "last";
  std::filesystem::create_directory_symlink(folder, folder / "closed/round");  // is not followed
  CHECK(mt::datasets::read_texts(folder, {".txt"}) == bytes_of(expected + "belowlast"));
  auto const refused = [&](std::filesystem::path const& at, std::filesystem::path const& in, std::string const& why) {
    CHECK_THROWS_WITH_AS(mt::datasets::read_texts(at, {".txt"}),
                         ("meshtensor R40: the folder '" + in.string() + "' cannot be read: " + why).c_str(),
                         mt::error);
  };
  refused(folder / "absent", folder / "absent", "No such file or directory");
  refused(folder / "last.txt", folder / "last.txt", "Not a directory");
  std::filesystem::permissions(folder / "closed", std::filesystem::perms::none);
  bool const is_root = ::geteuid() == 0;  // root may read all, so this process is another user for a moment
  if (!is_root || ::seteuid(65534) == 0) refused(folder, folder / "closed", "Permission denied");
  if (is_root) REQUIRE(::seteuid(0) == 0);
  std::filesystem::permissions(folder / "closed", std::filesystem::perms::owner_all);
  std::filesystem::remove_all(folder);
}

TEST_CASE("windows of what is learnt and of what is held out") {
  for (std::size_t const size : {std::size_t{600}, std::size_t{50000}, std::size_t{200003}}) {
    std::int64_t const length = 16;
    auto const all = counted(size);
    mt::datasets::text_windows const w(all, length);
    CHECK(w.size() == static_cast<std::int64_t>(size));
    std::vector<bool> held(size), learnt(size);
    std::set<std::size_t> begins;
    mt::datasets::text_batch b;
    for (std::int64_t i = 0; i < w.held_out_batches(3); ++i) {
      w.held_out(i, 3, b);
      for (std::size_t r = 0; r < 3; ++r) {
        std::size_t const at = place_of(&b.text[r * 16]);
        begins.insert(at);
        for (std::size_t k = 0; k < 16; ++k) {
          REQUIRE(b.text[r * 16 + k] == all[at + k]);
          REQUIRE(b.next[r * 16 + k] == all[at + k + 1]);
          held[at + k] = held[at + k + 1] = true;
        }
      }
    }
    std::set<std::size_t> drawn;
    for (std::uint64_t step = 0; step < 400; ++step) {
      w.training(7, step, 5, b);
      for (std::size_t r = 0; r < 5; ++r) {
        std::size_t const at = place_of(&b.text[r * 16]);
        drawn.insert(at);
        for (std::size_t k = 0; k <= 16; ++k) {
          REQUIRE((k == 16 ? b.next[r * 16 + 15] : b.text[r * 16 + k]) == all[at + k]);
          learnt[at + k] = true;
        }
      }
    }
    for (std::size_t i = 0; i < size; ++i) REQUIRE(!(held[i] && learnt[i]));
    auto const count = [](std::vector<bool> const& v) { return std::count(v.begin(), v.end(), true); };
    CHECK(w.held_out_bytes() - count(held) >= 0);
    CHECK(w.held_out_bytes() - count(held) <= 16 * static_cast<long>(size / 40960 + 1));
    CHECK(static_cast<double>(w.held_out_bytes()) > 0.04 * static_cast<double>(size));
    CHECK(static_cast<double>(w.held_out_bytes()) < 0.14 * static_cast<double>(size));
    CHECK(static_cast<double>(count(learnt)) > (size < 1000 ? 0.8 : 0.1) * static_cast<double>(size));
    CHECK(drawn.size() > (size < 1000 ? 400u : 1600u));
    std::int64_t pairs = 0;
    w.each_pair_learnt([&](std::uint8_t, std::uint8_t) { ++pairs; });
    CHECK(pairs < w.size() - w.held_out_bytes());
    CHECK(pairs >= w.size() - w.held_out_bytes() - static_cast<std::int64_t>(size / 40960) * 17 - 17);
  }
}

TEST_CASE("windows are a function of seed and step") {
  mt::datasets::text_windows const w(counted(50000), 32);
  mt::datasets::text_batch a, b;
  w.training(1, 5, 4, a), w.training(1, 5, 8, b);
  CHECK(std::equal(a.text.begin(), a.text.end(), b.text.begin()));
  w.training(1, 6, 4, b);
  CHECK(a.text != b.text);
  w.training(2, 5, 4, b);
  CHECK(a.text != b.text);
}

TEST_CASE("a text that is too short") {
  CHECK_THROWS_WITH_AS(mt::datasets::text_windows(counted(329), 32),
                       doctest::Contains("R41: the text has 329 bytes, but windows of 32 need at least 330"),
                       mt::error);
  for (std::int64_t const length : {0, -1})
    CHECK_THROWS_WITH_AS(mt::datasets::text_windows(counted(329), length), doctest::Contains("R41: windows of "),
                         mt::error);
  mt::datasets::text_windows const w(counted(330), 32);
  CHECK(w.held_out_batches(1) == 1);
  CHECK_THROWS_WITH_AS(w.held_out_batches(0), doctest::Contains("R41: a batch of 0 windows"), mt::error);
  mt::datasets::text_batch b;
  w.training(1, 1, 2, b);
  CHECK(b.text.size() == 64);
}

TEST_CASE("the bigram model") {
  mt::datasets::byte_pairs learnt, asked;
  for (int i = 0; i < 30; ++i) learnt.add('a', 'b');
  for (int i = 0; i < 10; ++i) learnt.add('a', 'c');
  asked.add('a', 'b'), asked.add('a', 'b'), asked.add('a', 'b'), asked.add('a', 'c');
  CHECK(mt::datasets::bigram_loss(learnt, asked) ==
        doctest::Approx(0.562335).epsilon(0.02));  // the entropy of 3/4 and 1/4
  mt::datasets::byte_pairs other;
  other.add('x', 'y');
  CHECK(mt::datasets::bigram_loss(learnt, other) == doctest::Approx(std::log(256)));  // never seen: every byte alike
  mt::datasets::text_batch const b{bytes_of("ab"), bytes_of("bc")};
  other.add(b);
  CHECK(other('a', 'b') == 1);
  CHECK(other('b', 'c') == 1);
}

TEST_CASE("a byte drawn by its probability") {
  std::vector<float> p(256);
  p[65] = 0.25f, p[66] = 0.5f, p[90] = 0.25f;
  CHECK(mt::datasets::draw_byte(p, 0) == 65);
  CHECK(mt::datasets::draw_byte(p, 0.2499) == 65);
  CHECK(mt::datasets::draw_byte(p, 0.25) == 66);
  CHECK(mt::datasets::draw_byte(p, 0.7499) == 66);
  CHECK(mt::datasets::draw_byte(p, 0.75) == 90);
  CHECK(mt::datasets::draw_byte(p, 0.9999999999) == 90);
  for (float& x : p) x *= 3;  // need not sum to one
  CHECK(mt::datasets::draw_byte(p, 0.7499) == 66);
}

TEST_CASE("bytes as a terminal can show them") {
  auto const text = [](std::string const& s) { return mt::datasets::shown(bytes_of(s)); };
  CHECK(text("a\tb\n~") == "a\tb\n~");
  CHECK(text("\x1b[2J\r\x7f") == "\\x1b[2J\\x0d\\x7f");
  CHECK(text("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80") == "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
  CHECK(text("\xc3") == "\\xc3");
  CHECK(text("\xc0\xaf\xed\xa0\x80\xc2\x85") == "\\xc0\\xaf\\xed\\xa0\\x80\\xc2\\x85");
  CHECK(text("\xf4\x90\x80\x80\xe0\x80\x80") == "\\xf4\\x90\\x80\\x80\\xe0\\x80\\x80");
}
