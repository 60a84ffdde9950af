// SPDX-License-Identifier: Apache-2.0
// The folder of a run. It has numbered checkpoints such as `0012-step-1200`. A checkpoint is complete if its index
// exists.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/io/file.hpp"

namespace meshtensor::io {

inline constexpr char const* index_name = "index.json";

inline bool is_there(std::string const& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0;
}

/// The name of a checkpoint's folder: its number in the run, and its step.
struct checkpoint_name {
  std::uint64_t number = 0, step = 0;

  std::string text() const {
    std::string const digits = std::to_string(number);
    return std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits + "-step-" + std::to_string(step);
  }
  /// Parses a name. Returns false if it is not the name of a checkpoint.
  static bool read(std::string_view text, checkpoint_name& n) {
    constexpr std::string_view middle = "-step-";
    auto const at = text.find(middle);
    if (at == text.npos) return false;
    char const* const end = text.data() + text.size();
    std::from_chars(text.data(), text.data() + at, n.number);
    std::from_chars(text.data() + at + middle.size(), end, n.step);
    return n.text() == text;
  }
};

/// All folders named like a checkpoint, the newest first, even if they are incomplete. errors C02
inline std::vector<checkpoint_name> checkpoints_in(std::string const& folder) {
  std::vector<checkpoint_name> all;
  std::error_code problem;
  std::filesystem::directory_iterator each(folder, problem);
  for (; !problem && each != std::filesystem::directory_iterator(); each.increment(problem)) {
    checkpoint_name n;
    if (checkpoint_name::read(each->path().filename().native(), n)) all.push_back(n);
  }
  if (problem && problem != std::errc::no_such_file_or_directory) cannot_read(folder, problem.value());
  std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.number > b.number; });
  return all;
}

/// Creates the folder of the next checkpoint, and the folder of the run if it is missing. No other job gets the same
/// folder. errors C01, C02
inline checkpoint_name make_next(std::string const& folder, std::uint64_t step) {
  std::error_code problem;
  if (std::filesystem::create_directories(folder, problem)) sync_folder(folder_of(folder));
  if (problem) cannot_write(folder, problem.value());
  for (;;) {
    auto const all = checkpoints_in(folder);
    checkpoint_name const next{all.empty() ? 1 : all[0].number + 1, step};
    std::string const path = folder + "/" + next.text();
    if (::mkdir(path.c_str(), 0777) == 0) return next;
    if (errno != EEXIST) cannot_write(path, errno);  // another job was faster
  }
}

/// Removes a checkpoint, its index first. Files that cannot be removed stay.
inline void remove_checkpoint(std::string const& path) {
  ::unlink((path + "/" + index_name).c_str());
  std::error_code problem;
  std::filesystem::directory_iterator each(path, problem);
  for (; !problem && each != std::filesystem::directory_iterator(); each.increment(problem))
    ::unlink(each->path().c_str());
  ::rmdir(path.c_str());
}

/// Marks a checkpoint that this process is writing. A job may save to a folder by several objects, and none of them may
/// remove an incomplete checkpoint that another one will complete.
class mark_of_writer {
 public:
  explicit mark_of_writer(std::string const& path) {
    std::lock_guard const alone(marked().mutex);
    at_ = marked().paths.insert(real(path));
  }
  mark_of_writer(mark_of_writer const&) = delete;
  mark_of_writer& operator=(mark_of_writer const&) = delete;
  ~mark_of_writer() {
    std::lock_guard const alone(marked().mutex);
    marked().paths.erase(at_);
  }
  static bool is_on(std::string const& path) {
    std::lock_guard const alone(marked().mutex);
    return marked().paths.contains(real(path));
  }

 private:
  struct marked_paths {
    std::mutex mutex;
    std::multiset<std::string> paths;
  };
  static marked_paths& marked() {
    static marked_paths all;
    return all;
  }
  /// One text for all spellings of a path.
  static std::string real(std::string const& path) {
    std::error_code problem;
    auto const found = std::filesystem::canonical(path, problem);
    return problem ? path : found.string();
  }

  std::multiset<std::string>::iterator at_;
};

/// Removes all complete checkpoints except the newest `keep`, or none of them if `keep` is 0. It also removes
/// incomplete checkpoints that this process is not writing, but no checkpoint that is newer than `last`.
inline void remove_old(std::string const& folder, checkpoint_name const& last, int keep) {
  int there = 0;
  for (checkpoint_name const& n : checkpoints_in(folder)) {
    std::string const path = folder + "/" + n.text();
    if (n.number > last.number) continue;
    bool const is_marked = mark_of_writer::is_on(path);  // asked first, because the index is there before the mark goes
    if (is_there(path + "/" + index_name) ? keep == 0 || there++ < keep : is_marked) continue;
    remove_checkpoint(path);
  }
}

}  // namespace meshtensor::io
