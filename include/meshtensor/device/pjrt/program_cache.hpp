// SPDX-License-Identifier: Apache-2.0
// A folder of compiled programs, so that a program is compiled once and not at each start.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "meshtensor/base/crc32c.hpp"
#include "meshtensor/base/hash_combine.hpp"
#include "meshtensor/base/protobuf.hpp"

namespace meshtensor::pjrt {

/// Files by key. A key is all that a compiled program depends on; it stands in the file, too, so that a file of another
/// program with the same hash is not taken. A file that is damaged is none, and what cannot be written is left out.
class program_cache {
 public:
  /// `MESHTENSOR_CACHE` names the folder, `off` none; else it is `meshtensor` in the user's folder for caches.
  static program_cache of_user() {
    auto const set = [](char const* name) {
      char const* const value = std::getenv(name);
      return std::string(value == nullptr ? "" : value);
    };
    std::string const own = set("MESHTENSOR_CACHE"), caches = set("XDG_CACHE_HOME"), home = set("HOME");
    if (own == "off") return program_cache("");
    if (!own.empty()) return program_cache(own);
    if (!caches.empty()) return program_cache(caches + "/meshtensor");
    return program_cache(home.empty() ? "" : home + "/.cache/meshtensor");
  }
  /// `folder`: made at the first program; empty: nothing is kept.
  explicit program_cache(std::string folder) : folder_(std::move(folder)) {}

  std::string const& folder() const { return folder_; }
  /// The file of a key.
  std::string path(std::string const& key) const { return folder_ + "/" + hash_text(key) + ".pjrt"; }

  /// What was kept under a key, if it is whole.
  std::optional<std::string> find(std::string const& key) const {
    if (folder_.empty()) return {};
    std::ifstream file(path(key), std::ios::binary);
    std::string const all{std::istreambuf_iterator<char>(file), {}};
    std::string const head = head_of(key);
    if (all.size() < head.size() + 4 || !std::string_view(all).starts_with(head)) return {};
    std::string content = all.substr(head.size() + 4);
    if (meshtensor::detail::little_endian(crc32c(content), 4) != all.substr(head.size(), 4)) return {};
    return content;
  }
  /// Keeps a program; other processes see the whole file or none.
  void keep(std::string const& key, std::string_view content) const {
    if (folder_.empty()) return;
    std::error_code problem;
    std::filesystem::create_directories(folder_, problem);
    std::string const to = path(key), first = to + "." + std::to_string(getpid());
    std::ofstream file(first, std::ios::binary | std::ios::trunc);
    file << head_of(key) << meshtensor::detail::little_endian(crc32c(content), 4) << content;
    file.close();
    if (file) std::filesystem::rename(first, to, problem);
    if (!file || problem) std::filesystem::remove(first, problem);
  }

 private:
  static std::string head_of(std::string const& key) {
    return "meshtensor 1\n" + meshtensor::detail::little_endian(key.size(), 8) + key;
  }
  static std::string hash_text(std::string const& key) {
    hash_combine one, other;
    other(key.size());
    for (std::size_t i = 0; i < key.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, key.data() + i, std::min<std::size_t>(8, key.size() - i));
      one(word), other(word >> 32, word);
    }
    std::string r;
    for (std::uint64_t word : {one.hash, other.hash})
      for (int i = 64; (i -= 4) >= 0;) r += "0123456789abcdef"[word >> i & 15];
    return r;
  }

  std::string folder_;
};

}  // namespace meshtensor::pjrt
