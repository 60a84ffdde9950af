// SPDX-License-Identifier: Apache-2.0
// Marks functions that most programs never call, so that the compiler skips them (docs/howto/keep-compile-time-low.md).
#pragma once

namespace meshtensor {

/// `template <class = lazy>` marks a function that is the same for all programs, or that most programs never call. The
/// compiler instantiates it, and the functions that it calls for every dtype, only if it is called and not linked (see
/// compiled/). Pass the parameter on, because g++ instantiates every function that is named with fixed arguments.
struct lazy;

}  // namespace meshtensor
