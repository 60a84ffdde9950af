// SPDX-License-Identifier: Apache-2.0
// A dim is divided by at least 1.
// expect: meshtensor T47: the size, the stride and the dilation of mt::divided and mt::windowed are at least 1
#include "meshtensor/tensor/dim.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct samples_dim : mt::dim<"samples"> {} samples;
inline constexpr struct blocks_dim : mt::dim<"blocks", mt::divided(samples, 0)> {} blocks;
}  // namespace net

int main() {}
