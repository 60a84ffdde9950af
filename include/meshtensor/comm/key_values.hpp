// SPDX-License-Identifier: Apache-2.0
// Key-value store that the processes of a job share: one process puts a value under a key, and any other gets it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/function_ref.hpp"

namespace meshtensor::comm {

/// Values are exchanged only within `during`. There, any thread of any process may put and get them.
class key_values {
 public:
  virtual ~key_values() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The ranks on this rank's machine, this one included, in their order.
  virtual std::vector<int> ranks_here() const = 0;
  /// Whether this rank has failed, or another one has reported a failure. Then some ranks never come to the calls that
  /// all ranks make together.
  virtual bool has_failed() const = 0;

  /// Stores a value under a key, and replaces a value that was put before.
  virtual void put(std::string_view key, std::string_view value) = 0;
  /// The value of a key, if it was put.
  virtual std::optional<std::string> find(std::string_view key) = 0;
  /// Waits for the value of a key, at most for the time `wait`. The result is empty if the value was not put in this
  /// time.
  virtual std::optional<std::string> get(std::string_view key, std::chrono::milliseconds wait) = 0;
  /// Waits for the value of a key until the wait limit is reached. The key names the wait in the error. errors R22
  virtual std::string wait_for(std::string const& key) = 0;
  /// Polls `is_so` until it is true or the wait limit is reached. `what` names the wait in the error. It works outside
  /// of `during`, too.
  ///
  /// errors  any that `is_so` throws; R21 another rank has failed; R22 the wait limit is reached
  virtual void poll(std::string_view what, function_ref<bool()> is_so) = 0;

  /// The bits that are set on all ranks. All ranks call this in the same order, and may do so outside of `during`.
  ///
  /// errors  R21 another rank has failed; R22 a rank does not come
  virtual unsigned common_bits(unsigned bits) = 0;

  /// Calls `call` on each rank, and returns when it has ended on all of them. All ranks call this in the same order.
  ///
  /// errors  any that `call` throws; R21 it has thrown on another rank; R22 a rank does not come to the end
  virtual void during(function_ref<void()> call) = 0;

  /// A number that was not given before, for keys. All ranks call this in the same order, so that they get the same
  /// number.
  int next_number() { return numbers_++; }

 private:
  int numbers_ = 0;
};

}  // namespace meshtensor::comm
