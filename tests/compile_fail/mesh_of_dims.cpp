// SPDX-License-Identifier: Apache-2.0
// A mesh is made of axes.
// expect: meshtensor S26: a mesh is made of axes: mt::mesh<data, model>
#include "meshtensor/mesh/mesh.hpp"
#include "meshtensor/tensor/dim.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
struct mesh : mt::mesh<batch> {};
}  // namespace net

int main() { return net::mesh::shape.count; }
