// SPDX-License-Identifier: Apache-2.0
// Arena: one block of memory that holds everything to which a plan gives an offset. It is zeroed, aligned for SIMD
// registers, and on large pages if the system has them.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/quantity.hpp"
#include "meshtensor/base/resident.hpp"

namespace meshtensor {

/// Owns `bytes` zeroed bytes, aligned to 64 bytes or, from the size of a large page on, to a large page. It can be
/// moved but not copied, and its address never changes.
///
/// errors  M10 the system cannot provide such a block
class arena {
 public:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t large_page = std::size_t{1} << 21;
  static constexpr std::size_t small = std::size_t{1} << 14;  // below it, mapping a page costs more than writing zeros

  arena() = default;
  explicit arena(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    if (bytes < small) {
      std::size_t const whole = (bytes + alignment - 1) / alignment * alignment;
      base_ = std::aligned_alloc(alignment, whole);
      if (base_ == nullptr) throw no_memory(bytes);
      data_ = static_cast<std::byte*>(std::memset(base_, 0, whole));
      return;
    }
    // Pages are aligned to 4096 bytes. To align a large block to a large page, we map one large page more and use the
    // aligned part.
    bool const large = bytes >= large_page;
    std::size_t const page = large ? large_page : alignment;
    mapped_ = bytes + (large ? large_page : 0);
    void* const got = mapped_ < bytes
                          ? MAP_FAILED
                          : mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got == MAP_FAILED) throw no_memory(bytes);
    base_ = got;
    data_ = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(base_) + page - 1) / page * page);
    if (large) madvise(data_, bytes, MADV_HUGEPAGE);  // a hint, without which the block works as well
  }
  arena(arena&& other) noexcept { swap(other); }
  arena& operator=(arena&& other) noexcept {
    arena(std::move(other)).swap(*this);
    return *this;
  }
  ~arena() {
    if (mapped_ != 0) munmap(base_, mapped_);
    else std::free(base_);
  }

  std::byte* data() { return data_; }
  std::byte const* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// The elements at an offset in bytes.
  template <class E>
  E* at(std::size_t offset) {
    return reinterpret_cast<E*>(data_ + offset);
  }
  template <class E>
  E const* at(std::size_t offset) const {
    return reinterpret_cast<E const*>(data_ + offset);
  }

  void swap(arena& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(mapped_, other.mapped_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

 private:
  static error no_memory(std::size_t bytes) {
    return error("M10", {"the system has no block of ",
                         bytes_text(static_cast<std::int64_t>(std::min(bytes, std::size_t{1} << 62))), ", it has ",
                         bytes_text(available_bytes()), " left"});
  }

  void* base_ = nullptr;
  std::size_t mapped_ = 0;  // 0 for a small block, which is on the heap
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Leaks a value on purpose: messages that will never complete may still use its memory.
template <class T>
void stays(T& value) {
  static_cast<void>(new T(std::move(value)));
}

}  // namespace meshtensor
