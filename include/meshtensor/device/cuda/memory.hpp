// SPDX-License-Identifier: Apache-2.0
// Owns memory of a GPU, and of the host for copies from and to it.
#pragma once

#include <utility>

#include "meshtensor/device/cuda/gpu.hpp"

namespace meshtensor::cuda {

/// A block of a GPU's memory.
class device_memory {
 public:
  device_memory() = default;
  device_memory(gpu& g, std::size_t bytes) : gpu_(&g), at_(g.allocate(bytes == 0 ? 1 : bytes)), bytes_(bytes) {}
  device_memory(device_memory&& from) noexcept
      : gpu_(from.gpu_), at_(std::exchange(from.at_, nullptr)), bytes_(from.bytes_) {}
  device_memory& operator=(device_memory&& from) noexcept {
    std::swap(gpu_, from.gpu_), std::swap(at_, from.at_), std::swap(bytes_, from.bytes_);
    return *this;
  }
  ~device_memory() {
    if (at_ != nullptr) gpu_->release(at_);
  }
  address at() const { return at_; }
  std::size_t bytes() const { return bytes_; }
  gpu& where() const { return *gpu_; }

 private:
  gpu* gpu_ = nullptr;
  address at_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A block of the host's memory that the GPU reads and writes.
class host_memory {
 public:
  host_memory() = default;
  host_memory(gpu& g, std::size_t bytes) : gpu_(&g), at_(g.allocate_host(bytes == 0 ? 1 : bytes)) {}
  host_memory(host_memory&& from) noexcept : gpu_(from.gpu_), at_(std::exchange(from.at_, nullptr)) {}
  host_memory& operator=(host_memory&& from) noexcept {
    std::swap(gpu_, from.gpu_), std::swap(at_, from.at_);
    return *this;
  }
  ~host_memory() {
    if (at_ != nullptr) gpu_->release_host(at_);
  }
  std::byte* at() const { return at_; }

 private:
  gpu* gpu_ = nullptr;
  std::byte* at_ = nullptr;
};

}  // namespace meshtensor::cuda
