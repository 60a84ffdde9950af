// SPDX-License-Identifier: Apache-2.0
// Compiled programs are kept in a folder, and taken from it; what is damaged is compiled anew.
// sanitize: no
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
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
  pjrt::program_cache const unwritable("/proc/absent");
  unwritable.keep("key", "content");
  CHECK(!unwritable.find("key"));
}
