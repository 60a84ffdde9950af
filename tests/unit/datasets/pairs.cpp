// SPDX-License-Identifier: Apache-2.0
// Aligned texts: lines of a file, parts of a folder, and the sentences for those that are not as they should be.
//
// needs: zlib
#include "meshtensor/datasets/text/pairs.hpp"

#include <doctest/doctest.h>

#include <random>

#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using strings = std::vector<std::string>;

namespace {

/// Packed by zlib's own function, apart from ours.
std::string packed(std::string const& text) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data()), stream.avail_out = static_cast<uInt>(bytes.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}
std::string unpacked(std::string const& bytes) {
  auto const all = mt::datasets::unpacked({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()}, "x.gz");
  return {all.begin(), all.end()};
}

using folder = meshtensor_test::temporary_folder;
std::string refusal(folder const& f, std::string const& part) {
  try {
    mt::datasets::pair_folder(f.path, "en", "de").read(part);
  } catch (mt::error const& e) { return e.what(); }
  return {};
}

}  // namespace

TEST_CASE("lines") {
  auto const lines = [](std::string const& text) { return mt::datasets::lines_of(text, "x"); };
  CHECK(lines("") == strings{});
  CHECK(lines("a") == strings{"a"});
  CHECK(lines("a\n") == strings{"a"});
  CHECK(lines("\n\nb\n") == strings{"", "", "b"});
  CHECK(lines("a\r\nb\r\n\r\nc\r") == strings{"a", "b", "", "c"});
  CHECK(lines("a\rb\n") == strings{"a\rb"});
  CHECK(lines("\xef\xbb\xbf\xc3\xa4\n\xef\xbb\xbf") == strings{"\xc3\xa4", "\xef\xbb\xbf"});
  CHECK(lines("a\xe2\x80\xa8"  // a separator of lines that is none here
              "b\x0c\x1c\xc2\x85z") == strings{"a\xe2\x80\xa8"
                                               "b\x0c\x1c\xc2\x85z"});
  CHECK_THROWS_WITH_AS(lines("a\r\n\xc3\xa4\n\nab\xe4z\n"),
                       doctest::Contains("R51: line 4 of 'x' is not UTF-8 from its byte 3 on"), mt::error);
  CHECK_THROWS_WITH_AS(lines("\xff\xfe"), doctest::Contains("line 1 of"), mt::error);
}

TEST_CASE("what gzip has packed") {
  std::mt19937 random(1);
  for (std::size_t const size : {0u, 1u, 65535u, 65536u, 65537u, 3000000u}) {
    std::string text(size, ' ');
    for (char& c : text) c = static_cast<char>(random());
    std::string const one = packed(text);
    CHECK(unpacked(one) == text);
    CHECK(unpacked(one + packed("and more")) == text + "and more");
    for (std::size_t const cut : {one.size() - 1, one.size() / 2, std::size_t{5}, std::size_t{0}})
      CHECK_THROWS_WITH_AS(unpacked(one.substr(0, cut)), doctest::Contains("R52: 'x.gz' ends in the middle"),
                           mt::error);
    std::string wrong = one;
    wrong[one.size() - 6] ^= 1;  // of the checksum
    CHECK_THROWS_WITH_AS(unpacked(wrong), doctest::Contains("R52: 'x.gz' cannot be unpacked, incorrect data check"),
                         mt::error);
  }
  CHECK(unpacked(packed(std::string(10000000, 'a'))).size() == 10000000);
  CHECK_THROWS_WITH_AS(unpacked("plain text"), doctest::Contains("was it packed by gzip?"), mt::error);
}

TEST_CASE("the parts of a folder") {
  folder const f;
  f.write("train.en", "one\ntwo\n");
  f.write("train.de.gz", packed("eins\r\nzwei"));
  f.write("valid.en.gz", packed("a\n\n"));
  f.write("valid.de", "b\n\n");
  f.write("valid.de.gz", "not looked at");
  f.write("alone.en", "x\n");
  f.write(".en", "x\n");
  f.write(".de", "x\n");
  f.write("train.fr", "un\ndeux\n");
  std::filesystem::create_symlink("nowhere", f / "gone.en");
  std::filesystem::create_directory(f / "folder.en");
  mt::datasets::pair_folder const pairs(f.path, "en", "de");
  CHECK(pairs.parts() == strings{"train", "valid"});
  CHECK(pairs.has("train"));
  CHECK(!pairs.has("alone"));
  mt::datasets::text_pairs const train = pairs.read("train");
  CHECK(train.size() == 2);
  CHECK(train.source == strings{"one", "two"});
  CHECK(train.target == strings{"eins", "zwei"});
  CHECK(pairs.read("valid").source == strings{"a", ""});
  CHECK(pairs.read("valid").target == strings{"b", ""});
  CHECK(mt::datasets::pair_folder(f.path, "fr", "en").read("train").source == strings{"un", "deux"});
  CHECK(refusal(f, "test") == "meshtensor R50: the folder '" + f.path.string() +
                                  "' has no test.en or test.en.gz, and no test.de or test.de.gz; its parts are train, "
                                  "valid");
  CHECK(refusal(f, "alone") == "meshtensor R50: the folder '" + f.path.string() +
                                   "' has no alone.de or alone.de.gz; its parts are train, valid");
}

TEST_CASE("folders and files that are not as they should be") {
  folder const f;
  auto const open = [&](char const* source) { mt::datasets::pair_folder(f.path, source, "de"); };
  CHECK_THROWS_WITH_AS(open("en"), doctest::Contains("R50: "), mt::error);
  CHECK_THROWS_WITH_AS(open("en"),
                       doctest::Contains("has no two files like train.en and train.de, plain or with .gz "
                                         "at the end; it has none"),
                       mt::error);
  for (int i = 0; i < 10; ++i) f.write("part_" + std::to_string(i) + ".de", "x\n");
  CHECK_THROWS_WITH_AS(open("en"), doctest::Contains("it has part_0.de, part_1.de, "), mt::error);
  CHECK_THROWS_WITH_AS(open("en"), doctest::Contains("part_7.de and 2 more"), mt::error);
  CHECK_THROWS_WITH_AS(mt::datasets::pair_folder(f / "absent", "en", "de"),
                       doctest::Contains("absent' cannot be read, No such file or directory: name one with files like "
                                         "train.en and train.de"),
                       mt::error);
  CHECK_THROWS_WITH_AS(mt::datasets::pair_folder(f / "part_0.de", "en", "de"), doctest::Contains("R50: "), mt::error);

  f.write("part_0.en", "x\ny\n");
  CHECK(refusal(f, "part_0") ==
        "meshtensor R50: 'part_0.en' has 2 lines, but 'part_0.de' has 1: each line must be the translation of the "
        "other's");
  f.write("part_1.en", "");
  CHECK(refusal(f, "part_1").find("R40: the text '" + (f / "part_1.en").string() + "' is empty") != std::string::npos);
  f.write("part_2.en.gz", packed(""));
  CHECK(refusal(f, "part_2").find("part_2.en.gz' is empty") != std::string::npos);
  f.write("part_3.en.gz", "x\n");
  CHECK(refusal(f, "part_3").find("R52: '" + (f / "part_3.en.gz").string() + "' cannot be unpacked") !=
        std::string::npos);
  f.write("part_4.en", "caf\xe9\n");
  CHECK(refusal(f, "part_4").find("R51: line 1 of '" + (f / "part_4.en").string()) != std::string::npos);
}
