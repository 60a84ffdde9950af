// SPDX-License-Identifier: Apache-2.0
// Begins code that runs at start-up, in reports and in errors: at -O2 g++ compiles it in half the time, with few
// passes. `run_rarely_end.hpp` ends it. Both are included outside of namespaces, behind all other headers.
// why: no `#pragma once`, for a file may have several such parts. g++ inlines no function of such a part elsewhere, so
// what steps call stays outside.
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#  pragma GCC push_options
#  pragma GCC optimize("Og")
#endif
