// SPDX-License-Identifier: Apache-2.0
// An array that grows, as std::vector does, for a fifth of the compile time. It is for tables that are filled at
// start-up and read in steps. It saves time because g++ makes forty functions of std::vector for each of some forty
// types of elements, and optimizes all of them as if they ran in loops. Here a function or two make an array grow, and
// are compiled with few passes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace meshtensor {

template <class T>
class dynamic_array {
 public:
  using value_type = T;
  using const_reference = T const&;  // std::back_inserter asks for both

  dynamic_array() = default;
  // Delegates to the first constructor, so that the destructor runs if an element throws.
  explicit dynamic_array(std::size_t size) : dynamic_array() { resize(size); }
  dynamic_array(dynamic_array const& other) : dynamic_array() { append(other); }
  dynamic_array(dynamic_array&& other) noexcept { swap(other); }
  dynamic_array& operator=(dynamic_array other) noexcept {
    swap(other);
    return *this;
  }
  ~dynamic_array() {
    clear();
    ::operator delete(static_cast<void*>(first_));
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return first_; }
  T const* data() const { return first_; }
  T* begin() { return first_; }
  T* end() { return first_ + size_; }
  T const* begin() const { return first_; }
  T const* end() const { return first_ + size_; }
  T& operator[](std::size_t i) { return first_[i]; }
  T const& operator[](std::size_t i) const { return first_[i]; }
  T& front() { return first_[0]; }
  T const& front() const { return first_[0]; }
  T& back() { return first_[size_ - 1]; }
  T const& back() const { return first_[size_ - 1]; }

  void push_back(T element) {
    if (size_ == capacity_) reserve(size_ < 4 ? 8 : 2 * size_);
    ::new (static_cast<void*>(first_ + size_)) T(std::move(element));
    ++size_;
  }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    push_back(T{std::forward<Args>(args)...});
    return back();
  }
  void pop_back() { std::destroy_at(first_ + --size_); }
  void clear() {
    if constexpr (!std::is_trivially_destructible_v<T>) shrink(0);
    size_ = 0;
  }
  void assign(std::size_t size, T value) {
    resize(size);
    std::fill_n(first_, size, value);
  }
  void swap(dynamic_array& other) noexcept {
    std::swap(first_, other.first_), std::swap(size_, other.size_), std::swap(capacity_, other.capacity_);
  }
  /// Makes room for at least so many elements.
  void reserve(std::size_t capacity);
  /// New elements are zeros, or as their default constructor makes them.
  void resize(std::size_t size);

  friend bool operator==(dynamic_array const& a, dynamic_array const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void shrink(std::size_t size);
  void append(dynamic_array const& other);

  T* first_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {
/// New memory of `bytes` bytes, the first `used` of them copied from `before`, which is freed.
inline void* grown(void* before, std::size_t used, std::size_t bytes) {
  void* const memory = ::operator new(bytes);
  if (used != 0) std::memcpy(memory, before, used);
  ::operator delete(before);
  return memory;
}
}  // namespace detail

template <class T>
void dynamic_array<T>::reserve(std::size_t capacity) {
  static_assert(alignof(T) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<T>);
  if (capacity <= capacity_) return;
  if constexpr (std::is_trivially_copyable_v<T>) {
    first_ = static_cast<T*>(detail::grown(static_cast<void*>(first_), size_ * sizeof(T), capacity * sizeof(T)));
  } else {
    T* const memory = static_cast<T*>(::operator new(capacity * sizeof(T)));
    for (std::size_t i = 0; i < size_; ++i) {
      ::new (static_cast<void*>(memory + i)) T(std::move(first_[i]));
      first_[i].~T();
    }
    ::operator delete(static_cast<void*>(first_));
    first_ = memory;
  }
  capacity_ = capacity;
}

template <class T>
void dynamic_array<T>::resize(std::size_t size) {
  shrink(size);
  reserve(size);
  for (; size_ < size; ++size_) ::new (static_cast<void*>(first_ + size_)) T();
}

template <class T>
void dynamic_array<T>::shrink(std::size_t size) {
  while (size_ > size) pop_back();
}

template <class T>
void dynamic_array<T>::append(dynamic_array const& other) {
  reserve(other.size_);
  for (; size_ < other.size_; ++size_) ::new (static_cast<void*>(first_ + size_)) T(other.first_[size_]);
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
