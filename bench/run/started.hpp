// SPDX-License-Identifier: Apache-2.0
// Starts a device and takes the time.
#pragma once

#include <chrono>
#include <string>

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct started {
  std::string peer, kind;
  double seconds;
};

/// `kind()` starts the device and gives its name.
template <class Kind>
started start_device(char const* peer, Kind const& kind) {
  double const begin = now();
  std::string const name = kind();
  return {peer, name, now() - begin};
}
