// SPDX-License-Identifier: Apache-2.0
// Key-value store that the processes of a job share: one puts a value under a key, any other gets it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/function_ref.hpp"

namespace meshtensor::comm {

/// Values are exchanged within `during` only; there, any thread of any process may put and get.
class key_values {
 public:
  virtual ~key_values() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The ranks on this rank's machine, this one included, in their order.
  virtual std::vector<int> ranks_here() const = 0;
  /// Whether a rank has failed, this one or another that has said so: then some never come to what all do together.
  virtual bool has_failed() const = 0;

  /// Replaces a value that was put before.
  virtual void put(std::string_view key, std::string_view value) = 0;
  /// The value of a key, if it was put.
  virtual std::optional<std::string> find(std::string_view key) = 0;
  /// Waits for the value of a key; nothing, if it was not put in this time.
  virtual std::optional<std::string> get(std::string_view key, std::chrono::milliseconds wait) = 0;
  /// Waits for it as long as ranks wait for each other; the key tells for what. errors R22
  virtual std::string wait_for(std::string const& key) = 0;
  /// Polls until it is so, as long as ranks wait for each other; `what` says for what. Outside of `during`, too.
  ///
  /// errors  what `is_so` throws; R21 another rank has failed; R22 it takes longer
  virtual void poll(std::string_view what, function_ref<bool()> is_so) = 0;

  /// The bits that all ranks give. All ranks call this in the same order; outside of `during`, too.
  ///
  /// errors  R21 another rank has failed; R22 a rank does not come
  virtual unsigned common_bits(unsigned bits) = 0;

  /// Calls `call` on each rank, and returns when it has ended on all. All ranks call this in the same order.
  ///
  /// errors  what `call` throws; R21 it has thrown on another rank; R22 a rank does not come to the end
  virtual void during(function_ref<void()> call) = 0;

  /// A number that was not given before, for keys; the same on all ranks, which call this in the same order.
  int next_number() { return numbers_++; }

 private:
  int numbers_ = 0;
};

}  // namespace meshtensor::comm
