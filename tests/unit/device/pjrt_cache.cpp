// SPDX-License-Identifier: Apache-2.0
// Compiled programs are kept in a folder, and taken from it; what is damaged is compiled anew.
// sanitize: no
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "meshtensor/device/pjrt/loaded_program.hpp"
#include "support/folder.hpp"
#include "support/pjrt.hpp"

namespace fs = std::filesystem;
namespace pjrt = meshtensor::pjrt;
using meshtensor_test::content;
using meshtensor_test::own_folder;

namespace {

/// x + `by`, into the memory of x.
std::string adding(std::string const& by) {
  return "module @m {\n  func.func public @main(%x: tensor<3xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<3xf32>) "
         "{\n"
         "    %c = \"stablehlo.constant\"() {value = dense<" +
         by +
         "> : tensor<3xf32>} : () -> tensor<3xf32>\n"
         "    %r = \"stablehlo.add\"(%x, %c) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>\n"
         "    func.return %r : tensor<3xf32>\n  }\n}\n";
}
/// The first element that it gives of 1, 2, 3, and whether it was kept.
std::pair<float, bool> run(std::string const& by, pjrt::program_cache const& cache, double least_seconds = 0) {
  auto& client = pjrt::device_client::of_file(std::getenv("MESHTENSOR_PJRT"));
  auto const t = std::make_shared<pjrt::tensor_type>(pjrt::tensor_type{pjrt::element::f32, {3}, 12});
  pjrt::loaded_program const program(client, adding(by), 1, {t}, {t}, cache, least_seconds);
  float numbers[] = {1, 2, 3};
  auto const given = program.upload(0, 0, numbers);
  program.run({{given.handle()}})[0][0].copy_to(numbers);
  CHECK(numbers[2] == numbers[0] + 2);
  return {numbers[0], program.is_from_cache()};
}
std::vector<fs::path> files(own_folder const& folder) {
  std::vector<fs::path> all;
  for (auto const& file : fs::directory_iterator(folder.path())) all.push_back(file.path());
  return all;
}

}  // namespace

TEST_CASE("a program is compiled once") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  own_folder const folder;
  pjrt::program_cache const cache(folder / "new/one"), none("");
  CHECK(run("4.0", cache) == std::pair(5.0f, false));
  CHECK(run("4.0", cache) == std::pair(5.0f, true));
  CHECK(run("5.0", cache) == std::pair(6.0f, false));  // another text
  CHECK(run("4.0", none) == std::pair(5.0f, false));
  CHECK(run("6.0", cache, 1e9) == std::pair(7.0f, false));  // not worth keeping
  CHECK(run("6.0", cache) == std::pair(7.0f, false));
  std::string const flags = std::getenv("XLA_FLAGS");
  setenv("XLA_FLAGS", (flags + " ").c_str(), 1);
  CHECK(run("4.0", cache) == std::pair(5.0f, false));  // other flags
  setenv("XLA_FLAGS", flags.c_str(), 1);
  CHECK(run("4.0", cache) == std::pair(5.0f, true));
}

TEST_CASE("a damaged file is compiled anew, and replaced") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  own_folder const folder;
  pjrt::program_cache const cache(folder.path());
  CHECK(!run("4.0", cache).second);
  REQUIRE(files(folder).size() == 1);
  std::string const path = files(folder)[0].string(), whole = content(path);
  auto const with = [&](std::string const& bytes) {
    meshtensor_test::set_content(path, bytes);
    CHECK(run("4.0", cache) == std::pair(5.0f, false));
    CHECK(run("4.0", cache) == std::pair(5.0f, true));
  };
  with(""), with(whole.substr(0, 30)), with(whole.substr(0, whole.size() - 1)), with(whole + "x");
  for (std::size_t at : {std::size_t{3}, std::size_t{40}, whole.size() - 60, whole.size() - 1}) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    with(bytes);
  }
  CHECK(files(folder).size() == 1);
}

TEST_CASE("what the plugin no longer takes is compiled anew; another program's file is not taken") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  own_folder const folder;
  pjrt::program_cache const cache(folder.path());
  CHECK(!run("4.0", cache).second);
  std::string const four = files(folder)[0].string();
  std::string const kept = content(four);
  CHECK(!run("5.0", cache).second);
  for (fs::path const& other : files(folder))
    if (other.string() != four) fs::copy_file(four, other, fs::copy_options::overwrite_existing);
  CHECK(run("5.0", cache) == std::pair(6.0f, false));
  cache.keep("some key", "no program");
  CHECK(cache.find("some key") == "no program");
  CHECK(!cache.find("another key"));
  std::string const key = kept.substr(13 + 8, kept.size());
  std::uint64_t length = 0;
  std::memcpy(&length, kept.data() + 13, 8);
  cache.keep(key.substr(0, length), "no program");  // whole, but not the plugin's
  CHECK(run("4.0", cache) == std::pair(5.0f, false));
}

TEST_CASE("the folder is named, or the user's own, or none") {
  for (char const* name : {"MESHTENSOR_CACHE", "XDG_CACHE_HOME", "HOME"}) setenv(name, "", 1);
  CHECK(pjrt::program_cache::of_user().folder() == "");
  setenv("HOME", "/home/me", 1);
  CHECK(pjrt::program_cache::of_user().folder() == "/home/me/.cache/meshtensor");
  setenv("XDG_CACHE_HOME", "/caches", 1);
  CHECK(pjrt::program_cache::of_user().folder() == "/caches/meshtensor");
  setenv("MESHTENSOR_CACHE", "/mine", 1);
  CHECK(pjrt::program_cache::of_user().folder() == "/mine");
  setenv("MESHTENSOR_CACHE", "off", 1);
  CHECK(pjrt::program_cache::of_user().folder() == "");
  setenv("MESHTENSOR_CACHE_BYTES", "2500", 1), setenv("MESHTENSOR_CACHE", "/mine", 1);
  CHECK(pjrt::program_cache::of_user().most_bytes() == 2500);
  setenv("MESHTENSOR_CACHE_BYTES", "", 1);
  CHECK(pjrt::program_cache::of_user().most_bytes() == pjrt::program_cache::usual_bytes);
  for (std::string const none : {"much", "5 GB", "-1", "1e9", "99999999999999999999"}) {
    setenv("MESHTENSOR_CACHE_BYTES", none.c_str(), 1);
    CHECK(meshtensor_test::sentence([] { pjrt::program_cache::of_user(); }) ==
          "meshtensor R75: MESHTENSOR_CACHE_BYTES is '" + none + "', but takes a number of bytes: 5000000000, or 0");
  }
  unsetenv("MESHTENSOR_CACHE_BYTES");
}

TEST_CASE("a folder that cannot be written is one warning, and the program goes on") {
  std::vector<std::string> said;
  auto const before = std::exchange(meshtensor::on_warning(), [&](std::string const& s) { said.push_back(s); });
  own_folder const folder;
  pjrt::program_cache const good(folder.path());
  good.keep("key", "content");
  CHECK(said.empty());
  meshtensor_test::set_content(folder.path() + "/file", "no folder");
  pjrt::program_cache const unwritable(folder.path() + "/file");
  for (int turn = 0; turn < 2; ++turn) {
    unwritable.keep("key", "content");
    CHECK(!unwritable.find("key"));
  }
  meshtensor::on_warning() = before;
  REQUIRE(said.size() == 1);
  CHECK(said[0] == "R17: compiled programs cannot be kept in '" + folder.path() +
                       "/file', Not a directory: each start compiles anew; let MESHTENSOR_CACHE name a folder that has "
                       "room and that you may write to, or set it to off");
}

TEST_CASE("what was used the longest ago goes when there is too much") {
  own_folder const folder;
  // A file has its content, 13 + 8 + 4 bytes, and its key: each of these 1026.
  pjrt::program_cache const cache(folder.path(), 3 * 1026);
  std::string const content(1000, 'c');
  auto const age = [&](std::string const& key, int hours) {
    fs::last_write_time(cache.path(key), fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  cache.keep("a", content), cache.keep("b", content), cache.keep("c", content);
  CHECK(files(folder).size() == 3);
  age("a", 30), age("b", 20), age("c", 10);
  CHECK(cache.find("a") == content);  // is the youngest now
  cache.keep("d", content);
  CHECK(files(folder).size() == 3);
  CHECK(!fs::exists(cache.path("b")));
  age("c", 10), age("a", 5);
  cache.keep("e", std::string(2000, 'e'));  // as large as two
  CHECK(files(folder).size() == 2);
  CHECK((cache.find("d") == content && cache.find("e")));
  cache.keep("f", std::string(4000, 'f'));  // would not fit alone
  CHECK((cache.find("d") && cache.find("e") && !cache.find("f")));
  auto const another = [&](std::string const& name, int hours) {
    std::string const path = folder.path() + "/" + name;
    meshtensor_test::set_content(path, std::string(9000, 'x'));
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(hours));
    return path;
  };
  auto const mine = another("notes.txt", 50), left = another("a.pjrt.1.part", 50),
             under_way = another("a.pjrt.2.part", 1);
  cache.keep("g", content);
  CHECK((fs::exists(mine) && !fs::exists(left) && fs::exists(under_way)));
}

TEST_CASE("processes that share a folder find whole programs or none") {
  own_folder const folder;
  std::vector<pid_t> children;
  for (int k = 0; k < 4; ++k)
    if (pid_t const child = fork(); child != 0) {
      children.push_back(child);
    } else {
      pjrt::program_cache const cache(folder.path(), 6 * 10'026);
      bool good = true;
      for (int i = 0; i < 400; ++i) {
        char const which = static_cast<char>('a' + (i * 7 + k) % 10);
        std::string const key(1, which), content(10'000, which);
        if (auto const found = cache.find(key)) good = good && *found == content;
        else cache.keep(key, content);
      }
      _exit(good ? 0 : 1);
    }
  for (pid_t const child : children) {
    int ended = 1;
    waitpid(child, &ended, 0);
    CHECK(ended == 0);
  }
  CHECK((files(folder).size() >= 1 && files(folder).size() <= 6));
}
