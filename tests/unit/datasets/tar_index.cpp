// SPDX-License-Identifier: Apache-2.0
// Archives that tar itself has written, in all its formats; damage is named.
#include "meshtensor/datasets/image/tar_index.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "support/folder.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using folder = meshtensor_test::temporary_folder;
using meshtensor_test::content;

namespace {

std::map<std::string, std::string> contents(std::string const& bytes) {
  mt::io::file const f("a.tar", std::as_bytes(std::span(bytes)));
  std::map<std::string, std::string> r;
  for (auto const& m : mt::datasets::tar_members(f))
    r[m.name] = bytes.substr(static_cast<std::size_t>(m.at), static_cast<std::size_t>(m.bytes));
  return r;
}
std::string refusal(std::string const& bytes) {
  return meshtensor_test::sentence([&] { contents(bytes); });
}
std::string packed(folder const& f, std::string const& options) {
  std::string const command = "tar -C '" + f.path.string() + "' " + options + " -cf '" + (f / "a.tar").string() + "' x";
  REQUIRE(std::system(command.c_str()) == 0);
  return f.read("a.tar");
}
/// The checksum of the header at `at` made right.
std::string checked(std::string bytes, std::size_t at = 0) {
  bytes.replace(at + 148, 8, 8, ' ');
  unsigned sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(bytes[at + i]);
  for (std::size_t i = 6; i > 0; --i, sum /= 8) bytes[at + 148 + i - 1] = static_cast<char>('0' + sum % 8);
  bytes[at + 154] = '\0';
  return bytes;
}

}  // namespace

TEST_CASE("what tar has packed, in each of its formats") {
  folder const f;
  std::string const deep = "x/" + std::string(90, 'd') + "/" + std::string(60, 'e');
  std::filesystem::create_directories(f / deep);
  std::string const large(5000, 'y');
  f.write("x/a", "one"), f.write("x/empty", ""), f.write("x/block", std::string(512, 'z'));
  f.write(deep + "/b", large);
  std::filesystem::create_symlink("a", f / "x/link");
  std::map<std::string, std::string> const wanted{
      {"x/a", "one"}, {"x/empty", ""}, {"x/block", std::string(512, 'z')}, {deep + "/b", large}, {"x/link", "one"}};
  for (std::string const format : {"gnu", "oldgnu", "pax", "posix", "ustar"}) {
    CAPTURE(format);
    std::string const bytes = packed(f, "--format=" + format);
    CHECK(contents(bytes) == wanted);
    for (std::size_t size = 0; size < bytes.size(); size += 256)
      if (bytes.find_first_not_of('\0', size) != std::string::npos) CHECK(refusal(bytes.substr(0, size)) != "");
  }

  std::string const name(200, 'n');  // too long for ustar
  f.write("x/" + name, "long");
  for (std::string const format : {"gnu", "pax"})
    CHECK(contents(packed(f, "--format=" + format))["x/" + name] == "long");
}

TEST_CASE("damaged archives, and what they must not have, are named") {
  folder const f;
  std::filesystem::create_directory(f / "x");
  f.write("x/a", "one");
  std::string const good = packed(f, "");
  CHECK(refusal(good.substr(0, 1024)) ==
        "meshtensor R63: the archive 'a.tar': it ends in the middle of 'x/a': copy it again");
  CHECK(refusal(good.substr(0, 1536)) ==
        "meshtensor R63: the archive 'a.tar': it ends without a mark of its end: copy it again");
  std::string wrong = good;
  wrong[512] ^= 1;
  CHECK(refusal(wrong) ==
        "meshtensor R63: the archive 'a.tar': there is no header at byte 512: is it a tar file, "
        "unpacked, and copied whole?");
  CHECK(refusal(std::string(600, 'x')).find("no header at byte 0") != std::string::npos);
  CHECK(refusal("") != "");
  std::string size = good;
  size.replace(512 + 124, 11, "77777777777");
  CHECK(refusal(checked(size, 512)).find("in the middle of 'x/a'") != std::string::npos);
  size.replace(512 + 124, 11, "00000000009");
  CHECK(refusal(checked(size, 512)).find("the header at byte 512 has no size") != std::string::npos);
  size.replace(512 + 124, 12, std::string("\x80\0\0\0\0\0\0\0\0\0\0\3", 12));  // in binary
  CHECK(contents(checked(size, 512)).at("x/a") == "one");
  size.replace(512 + 124, 12, std::string(12, '\xff'));
  CHECK(refusal(checked(size, 512)).find("has no size") != std::string::npos);

  std::filesystem::create_hard_link(f / "x/a", f / "x/b");
  std::string linked = packed(f, "");
  std::size_t at = 0;
  while (linked[at + 156] != '1') at += 512;
  linked[at + 157] = 'y';
  linked = checked(linked, at);
  CHECK(
      refusal(linked).ends_with("is a link to a file that the archive does not have: pack with tar's "
                                "--hard-dereference"));
  CHECK(contents(packed(f, "--hard-dereference")).size() == 2);
  std::filesystem::remove(f / "x/b");
  REQUIRE(std::system(("truncate -s 1M '" + (f / "x/a").string() + "'").c_str()) == 0);
  for (std::string const format : {"gnu", "pax", "pax --sparse-version=0.1", "pax --sparse-version=0.0"}) {
    CAPTURE(format);
    CHECK(refusal(packed(f, "--format=" + format + " --sparse"))
              .ends_with("/a' is packed as a sparse file: pack without tar's --sparse"));
  }
}

TEST_CASE("a size in a note of pax counts before the header's") {
  folder const f;
  std::filesystem::create_directory(f / "x");
  f.write("x/a", "one");
  std::string bytes = packed(f, "--format=pax --pax-option=size:=3");
  std::size_t const at = bytes.rfind("one") - 512;
  CHECK(contents(bytes).at("x/a") == "one");
  bytes.replace(at + 124, 11, "00000000000");
  CHECK(contents(checked(bytes, at)).at("x/a") == "one");
}

TEST_CASE("notes of pax that are not as they should be") {
  folder const f;
  std::filesystem::create_directory(f / "x");
  f.write("x/" + std::string(200, 'n'), "long");
  std::string const good = packed(f, "--format=pax");
  std::size_t const at = good.find(" path=");
  REQUIRE(at != good.npos);
  auto const begin = at - 3;  // three digits
  for (std::string const note : {"999 path", "000 path", "005 path", "21x path", "   path="}) {
    std::string wrong = good;
    wrong.replace(begin, note.size(), note);
    CHECK(refusal(wrong).find("is not as pax writes it: copy it again") != std::string::npos);
  }
}

TEST_CASE("names are those that tar unpacks, and the last of one name counts") {
  using mt::datasets::detail::unpacked_path;
  for (auto const& [written, unpacked] :
       std::initializer_list<std::pair<char const*, char const*>>{{"a", "a"},
                                                                  {"./a", "a"},
                                                                  {"/a/b", "a/b"},
                                                                  {"//a///b/", "a/b"},
                                                                  {"../a", "a"},
                                                                  {"../../a/./b", "a/b"},
                                                                  {"a/../b", "b"},
                                                                  {"a/b/../../c", "c"},
                                                                  {"..", ""},
                                                                  {"", ""},
                                                                  {"a/..", ""},
                                                                  {".a/..b/c..", ".a/..b/c.."}}) {
    CAPTURE(written);
    CHECK(unpacked_path(written) == unpacked);
  }

  folder const f;
  std::filesystem::create_directory(f / "x");
  f.write("x/a", "old"), f.write("x/b", "other");
  std::string const archive = "'" + (f / "a.tar").string() + "'", at = "cd '" + f.path.string() + "/x' && ";
  auto const run = [&](std::string const& command) { REQUIRE(std::system((at + command).c_str()) == 0); };
  for (std::string const names : {"a b", "./a ./b", "../x/a ../x/b", "\"$PWD/a\" ./../x/./b"}) {
    CAPTURE(names);
    run("tar -Pcf " + archive + " " + names + " && printf newer > a && tar -Prf " + archive + " " + names);
    std::map<std::string, std::string> seen;
    for (auto const& [name, bytes] : contents(f.read("a.tar"))) seen[name.substr(name.rfind('/') + 1)] = bytes;
    CHECK(seen == std::map<std::string, std::string>{{"a", "newer"}, {"b", "other"}});
  }
}

TEST_CASE("links have the content of the files that they lead to") {
  folder const f;
  std::string const deep(120, 'd');  // too long for a header's target
  std::filesystem::create_directories(f / ("x/" + deep));
  f.write("x/" + deep + "/a", "one");
  std::filesystem::create_symlink(deep + "/a", f / "x/soft");
  std::filesystem::create_symlink("./../x/soft", f / "x/soft2");
  std::filesystem::create_symlink("../soft2", f / ("x/" + deep + "/soft3"));
  std::filesystem::create_symlink("ring", f / "x/ring");
  std::filesystem::create_symlink("nowhere", f / "x/gone");
  std::filesystem::create_hard_link(f / ("x/" + deep + "/a"), f / "x/hard");
  for (std::string const format : {"gnu", "pax"}) {
    CAPTURE(format);
    CHECK(contents(packed(f, "--format=" + format)) ==
          std::map<std::string, std::string>{{"x/" + deep + "/a", "one"},
                                             {"x/hard", "one"},
                                             {"x/soft", "one"},
                                             {"x/soft2", "one"},
                                             {"x/" + deep + "/soft3", "one"}});
  }
  // A link to a folder or out of the archive is told apart from one that leads nowhere.
  std::filesystem::create_directory_symlink(deep, f / "x/folder");
  std::filesystem::create_symlink("/elsewhere/a", f / "x/away");
  std::filesystem::create_symlink("../y/a", f / "x/beside");
  std::filesystem::create_symlink("../../a", f / "x/above");
  std::string const bytes = packed(f, "");
  mt::io::file const archive("a.tar", std::as_bytes(std::span(bytes)));
  std::map<std::string, std::string> links;
  for (auto const& m : mt::datasets::tar_members(archive))
    if (!m.link.empty()) links[m.name] = m.link;
  CHECK(links == std::map<std::string, std::string>{
                     {"x/folder", deep}, {"x/away", "/elsewhere/a"}, {"x/beside", "../y/a"}, {"x/above", "../../a"}});
}
