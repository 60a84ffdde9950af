// SPDX-License-Identifier: Apache-2.0
// Holds the text that an example prints instead of running: after --help, or a mistake in its command line.
#pragma once

#include <string>

namespace examples {

/// The exit code is 0 after --help and 2 after a mistake.
struct ending {
  int code;
  std::string words;
};

}  // namespace examples
