// SPDX-License-Identifier: Apache-2.0
// A dim has at least one element.
// expect: meshtensor T06: a dim's extent is at least 1
#include "meshtensor/tensor/dim.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct empty_dim : mt::dim<"empty", batch - 4> {} empty;
constexpr auto given = empty(4);
}  // namespace net

int main() {}
