// SPDX-License-Identifier: Apache-2.0
// Starts a device, compiles programs on it, and takes the time of both.
#pragma once

#include <chrono>
#include <string>
#include <utility>

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

/// A device of whole programs, with the seconds that its last program took to be written and compiled.
template <class Device>
struct timed_compilation : Device {
  static inline double seconds = 0;

  struct whole_program : Device::whole_program {
    template <class... Given>
    explicit whole_program(Given&&... given) : whole_program(now(), std::forward<Given>(given)...) {}

   private:
    template <class... Given>
    explicit whole_program(double begin, Given&&... given) : Device::whole_program(std::forward<Given>(given)...) {
      seconds = now() - begin;
    }
  };
};
