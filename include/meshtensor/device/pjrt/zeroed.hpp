// SPDX-License-Identifier: Apache-2.0
// Makes the structs of arguments for PJRT's functions, which newer plugins may read beyond their declarations.
#pragma once

#include <cstddef>
#include <new>

namespace meshtensor::pjrt {

/// A zeroed struct that claims 64 bytes more than its declaration. A newer plugin reads zero in members that were added
/// since, and zero means the earlier behaviour.
template <class T>
class zeroed {
 public:
  zeroed() : one_(new (room_) T{}) { one_->head.size = sizeof room_; }
  zeroed(zeroed const&) = delete;
  zeroed& operator=(zeroed const&) = delete;
  T* operator->() { return one_; }
  T& operator*() { return *one_; }

 private:
  alignas(T) std::byte room_[sizeof(T) + 64] = {};
  T* one_;
};

}  // namespace meshtensor::pjrt
