// SPDX-License-Identifier: Apache-2.0
// Prints the warnings about an executable once: about its layout, its parameters and its device.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "meshtensor/job/job.hpp"
#include "meshtensor/run/executable/unused.hpp"

namespace meshtensor::detail {

/// Warns about unused rules and idle parameters. `Given` are the arguments of the executable's constructor.
template <class Executable, class... Given>
void warn_once(job_runner const& j, module const& m) {
  static std::atomic<bool> warned = false;  // once for each type of executable
  if (!warned.exchange(true)) {
    using layout = typename Executable::layout;
    constexpr std::uint64_t unused = unused_rules(Executable::stages::traced, layout::sharding_rules);
    warn_unused(j, m, layout::sharding_rules, unused);
    warn_idle(j, m);
    warn_alone(j, m);
  }
}

/// Whether the program has already printed the warning from a device's `advice()`.
template <class Device>
inline std::atomic<bool> advised = false;

template <class Device>
void warn_by_device(job_runner const& j) {
  if constexpr (requires { Device::advice(); }) {
    if (std::string const sentence = Device::advice(); !sentence.empty() && !advised<Device>.exchange(true))
      warn(j, sentence);
  }
}

}  // namespace meshtensor::detail
