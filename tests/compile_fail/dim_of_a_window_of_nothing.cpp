// SPDX-License-Identifier: Apache-2.0
// A window has at least one element.
// expect: meshtensor T47: the size, the stride and the dilation of mt::divided and mt::windowed are at least 1
#include "meshtensor/tensor/dim.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct rows_dim : mt::dim<"rows", 8> {} rows;
inline constexpr struct places_dim : mt::dim<"places", mt::windowed(rows, 0)> {} places;
}  // namespace net

int main() {}
