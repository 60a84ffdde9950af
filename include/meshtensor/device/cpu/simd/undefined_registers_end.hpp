// SPDX-License-Identifier: Apache-2.0
// Ends a part that undefined_registers.hpp began. It has no `#pragma once`, either.
#if defined(__AVX512F__)
#  pragma GCC diagnostic pop
#endif
