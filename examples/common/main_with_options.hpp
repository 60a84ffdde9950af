// SPDX-License-Identifier: Apache-2.0
// The main function of a large example, which reads its options first.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include <meshtensor/job/main.hpp>

#include "built_devices.hpp"
#include "options.hpp"

namespace examples {

/// Calls `read(argc, argv, o)`, then `f(job, o)`, which returns the exit code. After --help, --version or a mistake it
/// only prints the ending, and for `--device list` only the devices.
template <class Options, class F>
int main_with_options(int argc, char** argv, std::optional<ending> (*read)(int, char**, Options&), F const& f) {
  return meshtensor::run_main([&](meshtensor::job const& job) {
    Options o;
    if (auto const ending = read(argc, argv, o)) {
      if (ending->code == 0) meshtensor::print(job, "{}", ending->words);
      else meshtensor::progress(job, "{}", ending->words);
      return ending->code;
    }
    if (o.device == "list") return meshtensor::print(job, "{}", list_of_devices(built_names())), 0;
    if (o.threads != 0) setenv("MESHTENSOR_THREADS", std::to_string(o.threads).c_str(), 1);
    return f(job, o);
  });
}

}  // namespace examples
