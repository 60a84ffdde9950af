// SPDX-License-Identifier: Apache-2.0
// A temporary folder for a test, and helpers for its files.
#pragma once

#include <stdlib.h>  // mkdtemp
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace meshtensor_test {

/// Removed with the object. In memory where the system has such folders, for tests write often.
class own_folder {
 public:
  own_folder() {
    std::filesystem::path const memory = "/dev/shm";
    bool const has_memory = ::access(memory.c_str(), W_OK) == 0;
    std::string name = ((has_memory ? memory : std::filesystem::temp_directory_path()) / "meshtensor-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  explicit own_folder(std::string path) : path_(std::move(path)) { std::filesystem::create_directories(path_); }
  own_folder(own_folder const&) = delete;
  own_folder& operator=(own_folder const&) = delete;
  ~own_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(std::string const& name) const { return path_ + "/" + name; }
  std::string const& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string content(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void set_content(std::string const& path, std::string const& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// The text of what a function throws; empty: it throws nothing.
template <class F>
std::string sentence(F const& f) {
  try {
    f();
  } catch (std::exception const& e) { return e.what(); }
  return "";
}

}  // namespace meshtensor_test
