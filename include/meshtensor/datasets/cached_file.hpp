// SPDX-License-Identifier: Apache-2.0
// Keeps a file that is expensive to make. One of the processes that need it makes it when it is first needed.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/function_ref.hpp"

namespace meshtensor::datasets {

namespace detail {

/// Locks a folder against other processes and threads, as far as its file system supports locks.
class folder_lock {
 public:
  explicit folder_lock(std::filesystem::path const& folder)
      : file_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    while (file_ >= 0 && ::flock(file_, LOCK_EX) != 0 && errno == EINTR) {}
  }
  folder_lock(folder_lock const&) = delete;
  ~folder_lock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  int file_;
};

/// Writes the bytes under a temporary name, and renames the file when they are on the disk. Therefore no process can
/// read an incomplete file.
inline void write_whole(std::filesystem::path const& file, std::string const& bytes) {
  std::string name = file.string() + ".XXXXXX";
  int const to = ::mkstemp(name.data());
  bool good = to >= 0 && ::fchmod(to, 0644) == 0;
  for (std::size_t done = 0; good && done < bytes.size();) {
    auto const count = ::write(to, bytes.data() + done, bytes.size() - done);
    if (count >= 0) done += static_cast<std::size_t>(count);
    else good = errno == EINTR;
  }
  good = good && ::fsync(to) == 0;
  if (to >= 0) good = ::close(to) == 0 && good;
  if (good && std::rename(name.c_str(), file.c_str()) == 0) return;
  int const problem = errno;
  if (to >= 0) ::unlink(name.c_str());
  throw error("R17", {"'", file.string(), "' cannot be written, ", std::strerror(problem),
                      ": name a folder that has room and that you may write to"});
}

}  // namespace detail

/// If the file does not exist, makes it and its folder from the bytes that `make` returns. If `make` throws, no file is
/// left. If several threads or processes on one machine ask at the same time, one of them makes the file and the others
/// wait. Machines that share the folder may each make it, and the file of the last one stays. Therefore `make` must
/// return the same bytes everywhere.
///
/// errors  R17 the file cannot be written
inline void keep_file(std::filesystem::path const& file, function_ref<std::string()> make) {
  std::error_code problem;
  if (std::filesystem::exists(file, problem)) return;
  auto const folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  std::filesystem::create_directories(folder, problem);
  if (problem)
    throw error("R17", {"the folder '", folder.string(), "' cannot be made, ", problem.message(),
                        ": name one that you may write to"});
  detail::folder_lock const mine(folder);
  if (!std::filesystem::exists(file, problem)) detail::write_whole(file, make());
}

}  // namespace meshtensor::datasets
