// SPDX-License-Identifier: Apache-2.0
// Counts heap allocations in a scope, in all threads, with their backtraces. For glibc only; include it in one file of
// a test only, for it replaces malloc.
#pragma once

#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace meshtensor_test {

/// One call of malloc or its relatives while counting.
struct allocation {
  std::array<void*, 24> frames;
  int depth;
  std::size_t bytes;

  /// Whether the backtrace passes through a library whose file is named `lib…`.
  bool passed(std::string_view library) const {
    for (int i = 0; i < depth; ++i) {
      Dl_info about;
      if (dladdr(frames[static_cast<std::size_t>(i)], &about) == 0 || about.dli_fname == nullptr) continue;
      std::string_view file(about.dli_fname);
      if (file.substr(file.rfind('/') + 1).starts_with(library)) return true;
    }
    return false;
  }
  /// Addresses for addr2line, innermost first.
  std::string text() const {
    std::string t = std::to_string(bytes) + " bytes:";
    for (int i = 0; i < depth; ++i) {
      Dl_info about;
      void* const at = frames[static_cast<std::size_t>(i)];
      if (dladdr(at, &about) == 0 || about.dli_fname == nullptr) continue;
      std::string_view const file(about.dli_fname);
      char offset[24];
      std::snprintf(offset, sizeof offset, "+0x%zx",
                    static_cast<std::size_t>(static_cast<char*>(at) - static_cast<char*>(about.dli_fbase)));
      t += "\n  " + std::string(file.substr(file.rfind('/') + 1)) + offset;
      if (about.dli_sname != nullptr) t += std::string(" ") + about.dli_sname;
    }
    return t;
  }
};

namespace detail {
inline constexpr std::size_t most_allocations = 16384;
inline std::array<allocation, most_allocations> seen;
inline std::atomic<std::size_t> number = 0;
inline std::atomic<bool> counts = false;
inline thread_local bool within = false;

inline void count(std::size_t bytes) {
  if (!counts.load() || within) return;
  within = true;
  if (std::size_t const i = number.fetch_add(1); i < most_allocations) {
    seen[i].bytes = bytes;
    seen[i].depth = backtrace(seen[i].frames.data(), static_cast<int>(seen[i].frames.size()));
  }
  within = false;
}
}  // namespace detail

/// Counts heap allocations from here to `stop`.
class allocation_count {
 public:
  allocation_count() {
    void* one[1];
    backtrace(one, 1);  // loads what backtrace needs
    detail::number = 0, detail::counts = true;
  }
  ~allocation_count() { stop(); }
  void stop() { detail::counts = false; }

  /// The number of allocations that did not pass through one of these libraries, and those for which there was no room.
  template <class... Libraries>
  std::size_t without(Libraries... libraries) const {
    std::size_t n = all() - std::min(detail::most_allocations, all());
    each([&](allocation const& a) { n += !(a.passed(libraries) || ...); });
    return n;
  }
  std::size_t all() const { return detail::number; }
  /// The backtraces of the first ones.
  template <class... Libraries>
  std::string text(Libraries... libraries) const {
    std::string t;
    int said = 0;
    each([&](allocation const& a) {
      if (!(a.passed(libraries) || ...) && said++ < 3) t += a.text() + "\n";
    });
    return t;
  }

 private:
  template <class F>
  static void each(F f) {
    for (std::size_t i = 0; i < std::min(detail::most_allocations, detail::number.load()); ++i) f(detail::seen[i]);
  }
};

}  // namespace meshtensor_test

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
  meshtensor_test::detail::count(bytes);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t n, std::size_t bytes) {
  meshtensor_test::detail::count(n * bytes);
  return __libc_calloc(n, bytes);
}
void* realloc(void* block, std::size_t bytes) {
  meshtensor_test::detail::count(bytes);
  return __libc_realloc(block, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
  meshtensor_test::detail::count(bytes);
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block == nullptr ? ENOMEM : 0;
}
}
