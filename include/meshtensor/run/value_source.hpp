// SPDX-License-Identifier: Apache-2.0
// Source of values that a store does not have yet: a checkpoint or a file that was loaded before the programs that name
// its values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "meshtensor/run/stored.hpp"

namespace meshtensor {

/// A source of values that a store does not have yet, such as a loaded checkpoint.
class value_source {
 public:
  virtual ~value_source() = default;
  virtual bool has(std::string const& label) const = 0;
  /// Fills the blocks of a value. If it returns false, the program's initializer applies. Throws if that is not
  /// allowed, or if the value has another dtype or other dims in the source.
  virtual bool fill(std::string const& label, stored& value) = 0;
  /// Fills the blocks of a copy in the same way. The value itself still waits for a store.
  virtual bool copy(std::string const& label, stored& value) = 0;
  /// The names of the values that it has and that no store has requested.
  virtual std::vector<std::string> waiting() const { return {}; }
  /// The number of updates saved under a path, if one was saved.
  virtual std::optional<std::uint64_t> updates(std::string const&) const { return {}; }

  std::shared_ptr<value_source> before;  // has values that this one lacks; null if there is none
};

}  // namespace meshtensor
