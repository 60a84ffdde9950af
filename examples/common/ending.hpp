// SPDX-License-Identifier: Apache-2.0
// Holds the text that an example prints instead of running, because of --help, --version or a mistake.
#pragma once

#include <string>

#include <meshtensor/base/config.hpp>

namespace examples {

/// The exit code is 0 after --help and --version, and 2 after a mistake.
struct ending {
  int code;
  std::string words;
};

/// `meshtensor 0.1.0`
inline std::string version() { return "meshtensor " MESHTENSOR_VERSION; }

}  // namespace examples
