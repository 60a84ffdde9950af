// SPDX-License-Identifier: Apache-2.0
// Holds the elements of an array in contiguous memory, even those of bool, which std::vector packs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/quantity.hpp"
#include "meshtensor/base/resident.hpp"

namespace meshtensor::detail {

/// errors  M10 the system has no memory for an array
[[noreturn]] void refuse_array(std::int64_t elements, std::size_t bytes_of_one);

template <class T>
class element_buffer {
 public:
  element_buffer() = default;
  /// A buffer of zeros.
  ///
  /// errors  M10 the system cannot provide them
  explicit element_buffer(std::int64_t size)
      : size_(size), elements_(new (std::nothrow) T[static_cast<std::size_t>(size)]()) {
    if (elements_ == nullptr) refuse_array(size, sizeof(T));
  }
  element_buffer(element_buffer const& other)
      : size_(other.size_), elements_(new (std::nothrow) T[static_cast<std::size_t>(other.size_)]) {
    if (elements_ == nullptr) refuse_array(size_, sizeof(T));
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

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

[[noreturn]] inline void refuse_array(std::int64_t elements, std::size_t bytes_of_one) {
  throw error("M10", {"an array of ", elements, " elements has ",
                      bytes_text(elements * static_cast<std::int64_t>(bytes_of_one)), ", but the system has ",
                      bytes_text(available_bytes()),
                      " left: make it smaller, or have each rank hold "
                      "its part alone, as feed_local and local() do"});
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
