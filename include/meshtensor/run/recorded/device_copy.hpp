// SPDX-License-Identifier: Apache-2.0
// The copy of a value of the store on a device that keeps it from step to step.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/memory.hpp"

namespace meshtensor {

class device_copy {
 public:
  virtual ~device_copy() = default;
  /// Copies the value into the blocks of the ranks that this process holds.
  virtual void copy_to(std::span<arena> home) const = 0;
  virtual bool is_lost() const { return false; }
};

/// Stands for the only copy of a value after a failed step has taken it. A read of the value then throws an error.
class lost_copy final : public device_copy {
 public:
  explicit lost_copy(std::string sentence) : sentence_(std::move(sentence)) {}
  /// errors  R85
  void copy_to(std::span<arena>) const override { throw error("R85", sentence_); }
  bool is_lost() const override { return true; }

 private:
  std::string sentence_;
};

}  // namespace meshtensor
