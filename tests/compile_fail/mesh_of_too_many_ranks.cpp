// SPDX-License-Identifier: Apache-2.0
// The axes of a mesh have sizes that are allowed, but not their product.
// expect: meshtensor S01: a mesh has at most 1048576 ranks
#include "meshtensor/mesh/mesh.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct data_axis : mt::axis<"data", 1048576> {} data;
inline constexpr struct model_axis : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
}  // namespace net

int main() { return net::mesh::shape.count; }
