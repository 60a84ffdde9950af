// SPDX-License-Identifier: Apache-2.0
// Keeps warnings instead of printing them.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/base/warning.hpp"

namespace meshtensor_test {

/// Keeps the warnings of the library in `said`, as long as it lives.
struct kept_warnings {
  std::vector<std::string> said;

  kept_warnings() = default;
  kept_warnings(kept_warnings const&) = delete;
  kept_warnings& operator=(kept_warnings const&) = delete;
  ~kept_warnings() { meshtensor::on_warning() = before_; }

 private:
  std::function<void(std::string const&)> before_ =
      std::exchange(meshtensor::on_warning(), [this](std::string const& sentence) { said.push_back(sentence); });
};

}  // namespace meshtensor_test
