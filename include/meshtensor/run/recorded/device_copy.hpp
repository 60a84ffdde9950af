// SPDX-License-Identifier: Apache-2.0
// The copy of a value of the store on a device that keeps it from step to step.
#pragma once

#include <span>

#include "meshtensor/base/memory.hpp"

namespace meshtensor {

class device_copy {
 public:
  virtual ~device_copy() = default;
  /// Copies the value into the blocks of the processors that this process holds.
  virtual void copy_to(std::span<arena> home) const = 0;
};

}  // namespace meshtensor
