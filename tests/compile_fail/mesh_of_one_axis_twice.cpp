// SPDX-License-Identifier: Apache-2.0
// The axes of a mesh are told apart by their names.
// expect: meshtensor S25: two axes of the mesh have the same name: rename one
#include "meshtensor/mesh/mesh.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct rows_axis : mt::axis<"rows", 2> {} rows;
struct mesh : mt::mesh<rows, rows> {};
}  // namespace net

int main() {}
