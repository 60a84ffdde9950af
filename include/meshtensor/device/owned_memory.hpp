// SPDX-License-Identifier: Apache-2.0
// Owns memory of a device, and memory of the host for copies from and to the device.
#pragma once

#include <cstddef>
#include <utility>

namespace meshtensor {

/// A block of a device's memory.
template <class Machine>
class owned_memory {
 public:
  owned_memory() = default;
  owned_memory(Machine& d, std::size_t bytes) : machine_(&d), at_(d.allocate(bytes == 0 ? 1 : bytes)), bytes_(bytes) {}
  owned_memory(owned_memory&& from) noexcept
      : machine_(from.machine_), at_(std::exchange(from.at_, nullptr)), bytes_(from.bytes_) {}
  owned_memory& operator=(owned_memory&& from) noexcept {
    std::swap(machine_, from.machine_), std::swap(at_, from.at_), std::swap(bytes_, from.bytes_);
    return *this;
  }
  ~owned_memory() {
    if (at_ != nullptr) machine_->release(at_);
  }
  std::byte* at() const { return at_; }
  std::size_t bytes() const { return bytes_; }
  Machine& where() const { return *machine_; }

 private:
  Machine* machine_ = nullptr;
  std::byte* at_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A block of the host's memory that the device reads and writes.
template <class Machine>
class owned_host_memory {
 public:
  owned_host_memory() = default;
  owned_host_memory(Machine& d, std::size_t bytes) : machine_(&d), at_(d.allocate_host(bytes == 0 ? 1 : bytes)) {}
  owned_host_memory(owned_host_memory&& from) noexcept
      : machine_(from.machine_), at_(std::exchange(from.at_, nullptr)) {}
  owned_host_memory& operator=(owned_host_memory&& from) noexcept {
    std::swap(machine_, from.machine_), std::swap(at_, from.at_);
    return *this;
  }
  ~owned_host_memory() {
    if (at_ != nullptr) machine_->release_host(at_);
  }
  std::byte* at() const { return at_; }

 private:
  Machine* machine_ = nullptr;
  std::byte* at_ = nullptr;
};

}  // namespace meshtensor
