// SPDX-License-Identifier: Apache-2.0
// Warnings: legal but suspicious conditions, and the function that receives them.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace meshtensor {

/// Receives warnings. By default it writes to standard error. A program may assign its own function, and
/// `mt::on_warning() = {};` silences warnings. A thread that waits for another one calls it, too.
inline std::function<void(std::string const&)>& on_warning() {
  static std::function<void(std::string const&)> where = [](std::string const& sentence) {
    std::fprintf(stderr, "meshtensor warning %s\n", sentence.c_str());
  };
  return where;
}

}  // namespace meshtensor
