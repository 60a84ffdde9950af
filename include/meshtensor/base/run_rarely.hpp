// SPDX-License-Identifier: Apache-2.0
// Begins a part of a file whose code runs at start-up, in reports and in errors. At -O2, g++ compiles it in half the
// time, with few passes. `run_rarely_end.hpp` ends the part. Both are included outside of namespaces, behind all other
// headers. They have no `#pragma once`, because a file may have several such parts. Functions that steps call stay
// outside, because g++ inlines no function of such a part elsewhere.
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC optimize("Og")
#endif
