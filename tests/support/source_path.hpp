// SPDX-License-Identifier: Apache-2.0
// Finds the files beside a test's source: `source_path(__FILE__).replace_extension(".txt")`.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace meshtensor_test {

/// The path of a source of the tests. A compiler cache may give an object that was compiled in another folder, so that
/// __FILE__ names a file that is not there. Therefore ctest says in MESHTENSOR_SOURCE where the project is.
inline std::filesystem::path source_path(char const* file) {
  constexpr std::string_view tests = "/tests/";
  char const* const root = std::getenv("MESHTENSOR_SOURCE");
  auto const at = std::string_view(file).rfind(tests);
  if (root == nullptr || at == std::string_view::npos) return file;
  return std::string(root) + (file + at);
}

}  // namespace meshtensor_test
