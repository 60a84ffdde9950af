// SPDX-License-Identifier: Apache-2.0
// What is replicated is a dim.
// expect: meshtensor S08: replicate<dim> names a dim
#include "meshtensor/tensor/layout.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct layout : mt::layout<mt::in<"part", mt::replicate<data>>> {};
}  // namespace net

int main() { return net::layout::rules.count; }
