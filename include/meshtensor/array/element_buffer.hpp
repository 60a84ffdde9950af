// SPDX-License-Identifier: Apache-2.0
// Holds the elements of an array in contiguous memory; those of bool, too, which std::vector packs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace meshtensor::detail {

template <class T>
class element_buffer {
 public:
  element_buffer() = default;
  /// Zeros.
  explicit element_buffer(std::int64_t size)
      : size_(size), elements_(std::make_unique<T[]>(static_cast<std::size_t>(size))) {}
  element_buffer(element_buffer const& other)
      : size_(other.size_), elements_(std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(other.size_))) {
    std::copy_n(other.data(), size_, data());
  }
  element_buffer(element_buffer&& other) noexcept
      : size_(std::exchange(other.size_, 0)), elements_(std::move(other.elements_)) {}
  element_buffer& operator=(element_buffer other) noexcept {
    std::swap(size_, other.size_), std::swap(elements_, other.elements_);
    return *this;
  }
  ~element_buffer() = default;

  T* data() { return elements_.get(); }
  T const* data() const { return elements_.get(); }

 private:
  std::int64_t size_ = 0;
  std::unique_ptr<T[]> elements_;
};

}  // namespace meshtensor::detail
