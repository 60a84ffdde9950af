// SPDX-License-Identifier: Apache-2.0
// The processes of a job as a device sees them: their ranks, the values that they share, and the memory of devices that
// their messages may carry.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "meshtensor/comm/key_values.hpp"

namespace meshtensor {

/// Several processes that share a job. Each of them holds one rank of the mesh.
class process_group {
 public:
  virtual ~process_group() = default;
  virtual int rank() const = 0;
  /// The ranks on this rank's machine, this one included, in their order.
  virtual std::vector<int> ranks_here() = 0;
  /// The key-value store of the processes. The first call makes it, collectively. errors R78
  virtual comm::key_values& values() = 0;
  /// The name of the library that carries the messages, for error sentences.
  virtual std::string library_name() const = 0;
  /// Whether this library takes addresses of a device's memory.
  virtual bool takes_device_memory() const = 0;
  /// Sets a function that a thread of the group calls before it handles messages, for example to make a GPU current.
  virtual void enter_thread_by(std::function<void()> enter) = 0;
};

}  // namespace meshtensor
