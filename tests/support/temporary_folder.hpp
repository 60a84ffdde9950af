// SPDX-License-Identifier: Apache-2.0
// A temporary folder for a test, removed at its end.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace meshtensor_test {

struct temporary_folder {
  std::filesystem::path path;

  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "meshtensor_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder can be made for a test");
    path = name;
  }
  temporary_folder(temporary_folder const&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path); }

  std::filesystem::path operator/(std::string const& name) const { return path / name; }
  void write(std::string const& name, std::string const& bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
  }
  std::string read(std::string const& name) const {
    std::ifstream file(path / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }
};

}  // namespace meshtensor_test
