// SPDX-License-Identifier: Apache-2.0
// Files of the operating system, read by ranges and written atomically, so that a file is either old or completely new.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "meshtensor/base/diagnostic.hpp"

namespace meshtensor::io {

/// Throws, for example, `'run/index.json' cannot be written: No space left on device`.
[[noreturn]] inline void cannot_write(std::string const& path, int problem) {
  throw error("C01", {"'", path, "' cannot be written: ", std::generic_category().message(problem)});
}
[[noreturn]] inline void cannot_read(std::string const& path, int problem) {
  throw error("C02", {"'", path, "' cannot be read: ", std::generic_category().message(problem)});
}

/// Repeats a system call that a signal interrupted. An example is `again([&] { return ::fsync(fd); })`.
template <class Call>
auto again(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Owns a file descriptor.
class descriptor {
 public:
  explicit descriptor(int fd = -1) : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  /// Closes it and returns the result of close().
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

/// The folder of a path.
inline std::string folder_of(std::string const& path) {
  auto const slash = path.rfind('/');
  return slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}
/// Makes creations, renamings and removals in a folder survive a crash. errors C01
inline void sync_folder(std::string const& folder) {
  descriptor const d(again([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (d.get() < 0) cannot_write(folder, errno);
  // Some file systems have no fsync for folders, because they order these operations themselves.
  if (again([&] { return ::fsync(d.get()); }) != 0 && errno != EINVAL && errno != ENOTSUP) cannot_write(folder, errno);
}

/// A file opened for reading, with the size that it had then, or bytes in memory with the same interface.
///
/// errors  C02 it does not exist, is not a file, may not be read, or ends early
class file {
 public:
  /// Takes bytes in memory, which must outlive it. `path` is its name in error sentences.
  file(std::string path, std::span<std::byte const> content)
      : path_(std::move(path)), content_(content), size_(std::ssize(content)) {}
  explicit file(std::string path)
      // O_NONBLOCK is needed because opening a pipe would wait for a writer.
      : path_(std::move(path)), fd_(again([&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); })) {
    struct stat about{};
    if (fd_.get() < 0 || ::fstat(fd_.get(), &about) != 0) cannot_read(path_, errno);
    if (!S_ISREG(about.st_mode)) cannot_read(path_, S_ISDIR(about.st_mode) ? EISDIR : EINVAL);
    size_ = about.st_size;
  }
  std::string const& path() const { return path_; }
  std::int64_t size() const { return size_; }
  /// Fills `into` from byte `offset` on.
  void read(std::int64_t offset, std::span<std::byte> into) const {
    while (!into.empty()) {
      ssize_t const got =
          content_ ? copied(offset, into) : again([&] { return ::pread(fd_.get(), into.data(), into.size(), offset); });
      if (got < 0) cannot_read(path_, errno);
      if (got == 0)
        throw error("C02", {"'", path_, "' cannot be read: it ends at byte ", offset, ", ", into.size(), " too early"});
      into = into.subspan(static_cast<std::size_t>(got)), offset += got;
    }
  }

 private:
  // Copies the content from `offset` on to `into`, and returns the number of bytes.
  ssize_t copied(std::int64_t offset, std::span<std::byte> into) const {
    std::size_t const bytes =
        std::min(into.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, size_ - offset)));
    if (bytes != 0) std::memcpy(into.data(), content_->data() + offset, bytes);
    return static_cast<ssize_t>(bytes);
  }

  std::string path_;
  descriptor fd_;
  std::optional<std::span<std::byte const>> content_;  // instead of a file of the system
  std::int64_t size_ = 0;
};

/// Opens a file by its path. Readers of several files take a `file_opener`, so that tests can use files in memory.
using file_opener = std::function<file(std::string const& path)>;
inline file open_file(std::string const& path) { return file(path); }

/// A file that is written atomically. It is written under another name in the same folder, and renamed when all of it
/// is on the disk. Until `commit`, or without it, an existing file of this name stays as it is.
///
/// errors  C01
class new_file {
 public:
  explicit new_file(std::string path) : path_(std::move(path)) {
    static std::atomic<unsigned> made = 0;
    do {
      temporary_ = path_ + "." + std::to_string(::getpid()) + "-" + std::to_string(made++) + ".part";
      fd_ =
          descriptor(again([&] { return ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666); }));
    } while (fd_.get() < 0 && errno == EEXIST);  // left by a process that was killed
    if (fd_.get() < 0) {
      temporary_.clear();
      fail(errno);
    }
  }
  new_file(new_file const&) = delete;
  new_file& operator=(new_file const&) = delete;
  ~new_file() {
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void write(std::span<std::byte const> bytes) {
    constexpr std::size_t at_once = std::size_t{1} << 24;  // so that a full disk is found early
    while (!bytes.empty()) {
      ssize_t const put = again([&] { return ::write(fd_.get(), bytes.data(), std::min(at_once, bytes.size())); });
      if (put < 0) fail(errno);
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
  }
  void write(std::string const& text) { write(std::as_bytes(std::span(text))); }

  void commit() {
    if (again([&] { return ::fsync(fd_.get()); }) != 0) fail(errno);
    if (fd_.close() != 0 && errno != EINTR) fail(errno);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
    temporary_.clear();
    sync_folder(folder_of(path_));
  }

 private:
  [[noreturn]] void fail(int problem) const { cannot_write(path_, problem); }

  std::string path_, temporary_;
  descriptor fd_;
};

}  // namespace meshtensor::io
