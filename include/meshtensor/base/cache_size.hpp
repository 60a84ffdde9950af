// SPDX-License-Identifier: Apache-2.0
// The size of this machine's largest cache.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

namespace meshtensor {

/// The bytes of the largest cache that the first core reaches, or 0 if the system does not tell. It does not ask
/// sysconf first, because this counts the caches of all sockets, and of cores that a virtual machine does not have.
inline std::int64_t largest_cache_bytes() {
  std::int64_t most = 0;
  for (int index = 0; index < 8; ++index) {
    std::string const path = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size";
    std::FILE* const file = std::fopen(path.c_str(), "r");
    if (file == nullptr) break;
    long long size = 0;
    char unit = 0;
    if (std::fscanf(file, "%lld%c", &size, &unit) >= 1)
      most = std::max<std::int64_t>(most, size * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1));
    std::fclose(file);
  }
  if (most == 0) most = std::max<std::int64_t>(0, ::sysconf(_SC_LEVEL3_CACHE_SIZE));
  return most;
}

}  // namespace meshtensor
