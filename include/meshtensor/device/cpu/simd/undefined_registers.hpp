// SPDX-License-Identifier: Apache-2.0
// Begins a part of a file that calls intrinsics of AVX-512, because g++ 12 warns of the undefined registers inside its
// own intrinsics. `undefined_registers_end.hpp` ends the part. Both are included outside of namespaces, behind all
// other headers. They have no `#pragma once`, because several files have such parts.
#if defined(__AVX512F__)
#  pragma GCC diagnostic push
#  pragma GCC diagnostic ignored "-Wpragmas"
#  pragma GCC diagnostic ignored "-Wunknown-warning-option"
#  pragma GCC diagnostic ignored "-Wuninitialized"
#  pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
