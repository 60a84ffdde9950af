// SPDX-License-Identifier: Apache-2.0
// Ends what `run_rarely.hpp` begins.
// why: no `#pragma once`, for a file may have several such parts.
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
