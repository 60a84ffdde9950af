// SPDX-License-Identifier: Apache-2.0
// Ends the part of a file that `run_rarely.hpp` begins. It has no `#pragma once`, because a file may have several such
// parts.
#if defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__) && !defined(__clang__)
#  pragma GCC pop_options
#endif
