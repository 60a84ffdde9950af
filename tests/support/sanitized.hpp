// SPDX-License-Identifier: Apache-2.0
// Says if a sanitizer watches this test: it ends the process where an allocation is refused.
#pragma once

namespace meshtensor_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
inline constexpr bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace meshtensor_test
