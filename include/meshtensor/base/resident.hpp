// SPDX-License-Identifier: Apache-2.0
// Resident set size of the process: only pages that have been written count.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

/// Bytes resident now, or 0 if the system does not tell.
inline std::int64_t resident_bytes() {
  long pages = 0;
  if (std::FILE* const f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

/// Bytes that this process can still get. This is the least that its own limit (ulimit -v), its container's limit and
/// the machine's memory leave.
inline std::int64_t available_bytes() {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  auto const at_most = [&](std::int64_t bytes) { least = std::min(least, std::max<std::int64_t>(0, bytes)); };
  auto const number_in = [](char const* file, char const* format) {
    std::int64_t number = -1;
    if (std::FILE* const f = std::fopen(file, "r")) {
      char line[128];
      while (number < 0 && std::fgets(line, sizeof line, f) != nullptr)
        if (long long n = 0; std::sscanf(line, format, &n) == 1) number = n;
      std::fclose(f);
    }
    return number;
  };
  rlimit own{};
  if (getrlimit(RLIMIT_AS, &own) == 0 && own.rlim_cur != RLIM_INFINITY)
    at_most(static_cast<std::int64_t>(own.rlim_cur) - number_in("/proc/self/statm", "%lld") * sysconf(_SC_PAGESIZE));
  std::int64_t const free = number_in("/proc/meminfo", "MemAvailable: %lld kB");
  if (free >= 0) at_most((free + std::max<std::int64_t>(0, number_in("/proc/meminfo", "SwapFree: %lld kB"))) * 1024);
  std::int64_t const most = number_in("/sys/fs/cgroup/memory.max", "%lld");
  if (most >= 0) at_most(most - number_in("/sys/fs/cgroup/memory.current", "%lld"));
  return least;
}

/// Bytes of a block that are resident now, counted in whole pages.
inline std::int64_t resident_bytes(void const* block, std::int64_t bytes) {
  auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto const begin = reinterpret_cast<std::uintptr_t>(block) / page * page;
  auto const end = reinterpret_cast<std::uintptr_t>(block) + static_cast<std::uintptr_t>(bytes);
  if (bytes <= 0) return 0;
  std::vector<unsigned char> here((end - begin + page - 1) / page);
  if (mincore(reinterpret_cast<void*>(begin), end - begin, here.data()) != 0) return 0;
  auto const count = std::count_if(here.begin(), here.end(), [](unsigned char c) { return (c & 1) != 0; });
  return std::min(bytes, static_cast<std::int64_t>(count) * static_cast<std::int64_t>(page));
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
