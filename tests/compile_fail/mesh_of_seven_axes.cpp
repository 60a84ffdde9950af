// SPDX-License-Identifier: Apache-2.0
// A mesh has at most six axes.
// expect: meshtensor S24: a mesh has at most 6 axes
#include "meshtensor/mesh/mesh.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct a_axis : mt::axis<"a", 2> {} a;
inline constexpr struct b_axis : mt::axis<"b", 2> {} b;
inline constexpr struct c_axis : mt::axis<"c", 2> {} c;
inline constexpr struct d_axis : mt::axis<"d", 2> {} d;
inline constexpr struct e_axis : mt::axis<"e", 2> {} e;
inline constexpr struct f_axis : mt::axis<"f", 2> {} f;
inline constexpr struct g_axis : mt::axis<"g", 2> {} g;
struct mesh : mt::mesh<a, b, c, d, e, f, g> {};
}  // namespace net

int main() { return net::mesh::shape.count; }
