// SPDX-License-Identifier: Apache-2.0
// An axis has ranks, and 0 stands for as many as are started.
// expect: meshtensor S01: an axis has at least one rank
#include "meshtensor/mesh/mesh.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct data_axis : mt::axis<"data", -1> {} data;
struct mesh : mt::mesh<data> {};
}  // namespace net

int main() {}
