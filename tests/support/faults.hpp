// SPDX-License-Identifier: Apache-2.0
// Injects faults into calls of the operating system. Include it in one file of a test, whose program then calls these
// functions instead of the C library's. Calls are counted; the chosen one is not made, or kills the process.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <string>

namespace faults {

enum class kind {
  none,
  fails,       // with `problem`
  interrupts,  // EINTR, once
  cuts,        // a read or a write transfers one byte only
  kills,       // kills the process before the call
};

struct plan {
  kind what = kind::none;
  std::int64_t at = -1;  // index of the call, from 0
  int problem = 0;
  char const* path = "";  // only calls about files whose path contains this count
};

inline plan now;
inline std::atomic<std::int64_t> calls = 0, bytes_read = 0;
inline std::atomic<bool> met = false;
/// The path of an open file.
inline std::string path_of(int fd) {
  char path[4096] = "";
  std::string const link = "/proc/self/fd/" + std::to_string(fd);
  auto const n = ::syscall(SYS_readlinkat, AT_FDCWD, link.c_str(), path, sizeof path);
  return {path, n > 0 ? static_cast<std::size_t>(n) : 0};
}

inline void begin(plan const& p) { now = p, calls = 0, met = false, bytes_read = 0; }
inline void end() { now = {}; }

/// Only counts the calls.
inline constexpr std::int64_t counts = -2;
inline bool are_counted() { return now.what != kind::none || now.at == counts; }

/// The fault of this call, if any.
inline kind next(std::string const& path) {
  if (!are_counted()) return kind::none;
  if (path.find(now.path) == path.npos) return kind::none;
  if (calls++ != now.at) return kind::none;
  met = true;
  if (now.what == kind::kills) ::syscall(SYS_kill, ::getpid(), SIGKILL);
  if (now.what == kind::fails) errno = now.problem;
  if (now.what == kind::interrupts) errno = EINTR;
  return now.what;
}
inline kind next(int fd) { return are_counted() ? next(path_of(fd)) : kind::none; }
inline bool refused(kind k) { return k == kind::fails || k == kind::interrupts; }

}  // namespace faults

extern "C" {

int open(char const* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  auto const mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : mode_t{0};
  va_end(more);
  if (faults::refused(faults::next(path))) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
ssize_t write(int fd, void const* bytes, size_t count) {
  auto const k = fd > 2 ? faults::next(fd) : faults::kind::none;
  if (faults::refused(k)) return -1;
  return ::syscall(SYS_write, fd, bytes, k == faults::kind::cuts && count > 1 ? 1 : count);
}
ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  auto const k = faults::next(fd);
  if (faults::refused(k)) return -1;
  auto const n = ::syscall(SYS_pread64, fd, bytes, k == faults::kind::cuts && count > 1 ? 1 : count, offset);
  if (n > 0 && faults::are_counted()) faults::bytes_read += n;
  return n;
}
int fsync(int fd) {
  if (faults::refused(faults::next(fd))) return -1;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}
int rename(char const* from, char const* to) noexcept {
  if (faults::refused(faults::next(to))) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int mkdir(char const* path, mode_t mode) noexcept {
  if (faults::refused(faults::next(path))) return -1;
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
int unlink(char const* path) noexcept {
  if (faults::refused(faults::next(path))) return -1;
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
int rmdir(char const* path) noexcept {
  if (faults::refused(faults::next(path))) return -1;
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

}  // extern "C"
