// SPDX-License-Identifier: Apache-2.0
// Treats subnormal floats as zeros for a while, as the relu of device/cpu/onednn.hpp needs.
#pragma once

#include "meshtensor/base/config.hpp"

#if defined(__SSE2__)
#  include <immintrin.h>
#endif

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// While this object lives, the calling thread treats subnormal floats as zeros, both as operands and as results.
class without_subnormals {
 public:
  explicit without_subnormals(bool on) : on_(on) {
#if defined(__SSE2__)
    constexpr unsigned flush_results = 0x8000, operands_are_zero = 0x0040;
    if (on_) before_ = _mm_getcsr(), _mm_setcsr(before_ | flush_results | operands_are_zero);
#endif
  }
  ~without_subnormals() {
#if defined(__SSE2__)
    if (on_) _mm_setcsr(before_);
#endif
  }
  without_subnormals(without_subnormals const&) = delete;
  without_subnormals& operator=(without_subnormals const&) = delete;

 private:
  bool on_;
  unsigned before_ = 0;
};

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
