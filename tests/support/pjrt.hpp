// SPDX-License-Identifier: Apache-2.0
// Finds the PJRT plugin that runs programs on processors: the one that MESHTENSOR_PJRT names, or the Python package
// xla-cpu-pjrt.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/python.hpp"

namespace meshtensor_test {

/// The file of the plugin, with four devices; empty, and the test skipped, if there is none. To be called first.
inline std::string pjrt_plugin() {
  setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4", 1);
  setenv("NPROC", "8", 1);  // its threads: those that wait for others hold one each
  setenv("MESHTENSOR_CACHE", "off", 0);
  setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0);
  if (char const* const named = std::getenv("MESHTENSOR_PJRT"); named != nullptr && *named != '\0') return named;
  std::string const asks =
      python() +
      " -c \"import importlib.util as u; print(u.find_spec('xla_plugins.xla_cpu_pjrt').submodule_search_locations[0])\""
      " 2>/dev/null";
  std::string folder;
  if (FILE* const answer = popen(asks.c_str(), "r")) {
    for (int c; (c = std::fgetc(answer)) != EOF && c != '\n';) folder += static_cast<char>(c);
    pclose(answer);
  }
  if (folder.empty()) {
    skip_without_package("programs run on a PJRT plugin, which is not here: pip install xla-cpu-pjrt");
    return "";
  }
  setenv("MESHTENSOR_PJRT", (folder + "/xla_cpu_pjrt.so").c_str(), 1);
  return folder + "/xla_cpu_pjrt.so";
}

}  // namespace meshtensor_test
