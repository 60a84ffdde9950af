// What of the memory that a process has asked for it has really got: pages come when they are first written.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace meshtensor {

/// Bytes that this process has now; 0 where the system does not say.
inline std::int64_t resident_bytes() {
  long pages = 0;
  if (std::FILE* const f = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(f, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(f);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

/// Bytes of a block that this process has now, counted in whole pages.
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
