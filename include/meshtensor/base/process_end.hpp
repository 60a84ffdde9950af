// SPDX-License-Identifier: Apache-2.0
// Detects the end of another process on this machine, which need not be a child, and its cause.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace meshtensor {

/// A line of text that a signal handler may write, because it does not allocate.
class signal_safe_line {
 public:
  signal_safe_line& operator<<(std::string_view text) noexcept {
    std::size_t const n = std::min(text.size(), sizeof text_ - 1 - size_);
    std::memcpy(text_ + size_, text.data(), n);
    size_ += n;
    return *this;
  }
  signal_safe_line& operator<<(std::int64_t number) noexcept {
    char digits[24];
    return *this << std::string_view(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  }
  std::string_view text() const noexcept { return {text_, size_}; }
  /// Writes the line and a newline to standard error, and empties it.
  void write() noexcept {
    text_[size_++] = '\n';  // the buffer has room for it
    for (std::size_t at = 0; at < size_;) {
      ssize_t const n = ::write(STDERR_FILENO, text_ + at, size_ - at);
      if (n <= 0 && errno != EINTR) break;
      if (n > 0) at += static_cast<std::size_t>(n);
    }
    size_ = 0;
  }

 private:
  char text_[1024];
  std::size_t size_ = 0;
};

/// `SIGKILL`, or an empty text if the name is not listed here.
constexpr std::string_view signal_name(int number) {
  constexpr std::pair<int, std::string_view> names[] = {
      {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},   {SIGTRAP, "SIGTRAP"},
      {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},   {SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"}, {SIGPIPE, "SIGPIPE"},
      {SIGABRT, "SIGABRT"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
  for (auto const& [n, text] : names)
    if (n == number) return text;
  return {};
}
inline signal_safe_line& add_signal(signal_safe_line& to, int number) noexcept {
  if (auto const name = signal_name(number); !name.empty()) return to << name;
  return to << "signal " << number;
}

/// A process on this machine, by its id. Signal handlers may use it.
class process_end {
 public:
  explicit process_end(std::int64_t number)
      : number_(static_cast<pid_t>(number)), fd_(static_cast<int>(::syscall(open_by_number, number_, 0))) {}
  process_end(process_end&& other) noexcept : number_(other.number_), fd_(std::exchange(other.fd_, -1)) {}
  process_end& operator=(process_end&& other) noexcept {
    std::swap(number_, other.number_), std::swap(fd_, other.fd_);
    return *this;
  }
  ~process_end() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool has_come() const noexcept {
    int const before = errno;
    pollfd asked{fd_, POLLIN, 0};
    bool const come = fd_ >= 0 ? ::poll(&asked, 1, 0) > 0 : ::kill(number_, 0) != 0 && errno == ESRCH;
    errno = before;
    return come;
  }
  /// Adds the cause, `was killed by SIGKILL` or `exited with code 3`, if the system tells it (from Linux 6.15 on).
  /// Otherwise it adds `is gone`.
  void describe(signal_safe_line& to) const noexcept {
    answer a{};
    a.mask = wants_exit;
    int const before = errno;
    bool const told = fd_ >= 0 && ::ioctl(fd_, ask_about, &a) == 0 && (a.mask & wants_exit) != 0;
    errno = before;
    if (!told) to << "is gone";
    else if (WIFSIGNALED(a.status)) add_signal(to << "was killed by ", WTERMSIG(a.status));
    else to << "exited with code " << WEXITSTATUS(a.status);
  }

 private:
  // Copied from newer system headers: SYS_pidfd_open, struct pidfd_info, PIDFD_GET_INFO, PIDFD_INFO_EXIT.
  static constexpr long open_by_number = 434;
  struct answer {
    std::uint64_t mask, group;
    std::uint32_t ids[11];
    std::int32_t status;
  };
  static_assert(sizeof(answer) == 64);
  static constexpr unsigned long ask_about = _IOWR(0xFF, 11, answer);
  static constexpr std::uint64_t wants_exit = 8;

  pid_t number_;
  int fd_;
};

}  // namespace meshtensor
