// SPDX-License-Identifier: Apache-2.0
// A folder of compiled programs, so that a program is compiled once and not at each start.
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "meshtensor/base/crc32c.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/hash_combine.hpp"
#include "meshtensor/base/protobuf.hpp"
#include "meshtensor/base/warning.hpp"

namespace meshtensor::pjrt {

/// A folder with one file for each key. A key contains everything on which a compiled program depends. The file
/// contains its key, too, so that the file of another program with the same hash is not used. A damaged file counts as
/// missing. A program that cannot be written is not kept, and the first one gives a warning, R17. Processes may share a
/// folder, because a file appears only when it is complete. If one process removes a file while another reads it, the
/// reader still gets all of it.
class program_cache {
 public:
  /// The limit of the bytes of all files, unless `MESHTENSOR_CACHE_BYTES` sets another one.
  static constexpr std::uint64_t usual_bytes = 10'000'000'000;

  /// The cache of this user. `MESHTENSOR_CACHE` names its folder, and `off` means that nothing is kept. By default, it
  /// is `meshtensor` in the user's folder for caches.
  ///
  /// errors  R75 `MESHTENSOR_CACHE_BYTES` is no number of bytes
  static program_cache of_user() {
    auto const set = [](char const* name) {
      char const* const value = std::getenv(name);
      return std::string(value == nullptr ? "" : value);
    };
    std::string const own = set("MESHTENSOR_CACHE"), caches = set("XDG_CACHE_HOME"), home = set("HOME");
    std::uint64_t const most = bytes_of(set("MESHTENSOR_CACHE_BYTES"));
    if (own == "off") return program_cache("");
    if (!own.empty()) return program_cache(own, most);
    if (!caches.empty()) return program_cache(caches + "/meshtensor", most);
    return program_cache(home.empty() ? "" : home + "/.cache/meshtensor", most);
  }
  /// The folder is made when the first program is kept. If `folder` is empty, nothing is kept. `most` limits the bytes
  /// of all files.
  explicit program_cache(std::string folder, std::uint64_t most = usual_bytes)
      : folder_(std::move(folder)), most_(most) {}

  std::string const& folder() const { return folder_; }
  std::uint64_t most_bytes() const { return most_; }
  /// The file of a key.
  std::string path(std::string const& key) const { return folder_ + "/" + hash_text(key) + finished; }

  /// The program that was kept under a key, if its file is complete and undamaged.
  std::optional<std::string> find(std::string const& key) const {
    if (folder_.empty()) return {};
    std::error_code none;
    std::ifstream file(path(key), std::ios::binary | std::ios::ate);
    std::string const head = head_of(key);
    if (!file || file.tellg() < static_cast<std::streamoff>(head.size() + 4)) return {};
    std::string content(static_cast<std::size_t>(file.tellg()) - head.size() - 4, '\0'), begin(head.size() + 4, '\0');
    file.seekg(0);
    file.read(begin.data(), std::ssize(begin)).read(content.data(), std::ssize(content));
    if (!file || !begin.starts_with(head)) return {};
    if (meshtensor::detail::little_endian(crc32c(content), 4) != begin.substr(head.size())) return {};
    // The file's time is that of its last use.
    std::filesystem::last_write_time(path(key), std::filesystem::file_time_type::clock::now(), none);
    return content;
  }
  /// Keeps a program. If all files together are then too large, it removes those that have not been used for the
  /// longest time. A program that is too large on its own is not kept.
  void keep(std::string const& key, std::string_view content) const {
    std::string const head = head_of(key);
    if (folder_.empty() || head.size() + 4 + content.size() > most_) return;
    std::error_code problem, none;
    std::filesystem::create_directories(folder_, problem);
    std::string const to = path(key), first = to + "." + std::to_string(std::random_device{}()) + in_writing;
    errno = 0;
    std::ofstream file(first, std::ios::binary | std::ios::trunc);
    file << head << meshtensor::detail::little_endian(crc32c(content), 4) << content;
    file.close();
    if (file) std::filesystem::rename(first, to, problem);
    else if (!problem) problem.assign(errno, std::generic_category());
    if (!file || problem) {
      std::filesystem::remove(first, none);
      warn_once(problem);
    }
    prune();
  }

 private:
  static constexpr char const* finished = ".pjrt";
  static constexpr char const* in_writing = ".part";

  static std::uint64_t bytes_of(std::string const& text) {
    if (text.empty()) return usual_bytes;
    std::uint64_t bytes = 0;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), bytes);
    if (problem != std::errc{} || end != text.data() + text.size())
      throw error("R75", {"MESHTENSOR_CACHE_BYTES is '", text, "', but takes a number of bytes: 5000000000, or 0"});
    return bytes;
  }
  void warn_once(std::error_code const& why) const {
    static std::atomic<bool> told = false;
    if (!told.exchange(true) && on_warning())
      on_warning()("R17: compiled programs cannot be kept in '" + folder_ + "', " + why.message() +
                   ": each start compiles anew; let MESHTENSOR_CACHE name a folder that has room and that you may "
                   "write to, or set it to off");
  }

  /// Removes the least recently used files beyond the limit, and partial files of processes that were killed.
  void prune() const {
    namespace fs = std::filesystem;
    struct kept {
      fs::file_time_type used;
      fs::path file;
      std::uint64_t bytes;
    };
    std::vector<kept> all;
    std::uint64_t bytes = 0;
    std::error_code none;
    auto const yesterday = fs::file_time_type::clock::now() - std::chrono::hours(24);
    for (fs::directory_iterator i(folder_, none), end; !none && i != end; i.increment(none)) {
      std::error_code gone;  // another process may have removed it
      auto const used = fs::last_write_time(i->path(), gone);
      auto const size = gone ? 0 : fs::file_size(i->path(), gone);
      if (gone) continue;
      if (i->path().extension() == in_writing && used < yesterday) fs::remove(i->path(), gone);
      if (i->path().extension() != finished) continue;
      all.push_back({used, i->path(), size}), bytes += size;
    }
    std::ranges::sort(all, {}, &kept::used);
    for (auto const& [used, file, size] : all) {
      if (bytes <= most_) break;
      fs::remove(file, none);
      bytes -= size;
    }
  }

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
  std::uint64_t most_;
};

}  // namespace meshtensor::pjrt
