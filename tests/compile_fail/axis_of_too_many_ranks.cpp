// SPDX-License-Identifier: Apache-2.0
// Ranks are numbered by int, so that a mesh has a limit.
// expect: meshtensor S01: a mesh has at most 1048576 ranks
#include "meshtensor/mesh/mesh.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct data_axis : mt::axis<"data", 4294967297> {} data;
struct mesh : mt::mesh<data> {};
}  // namespace net

int main() { return net::mesh::shape.count; }
