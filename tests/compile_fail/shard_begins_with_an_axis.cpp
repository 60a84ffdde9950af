// SPDX-License-Identifier: Apache-2.0
// The dim stands first.
// expect: meshtensor S08: shard<dim, axis...> begins with a dim
#include "meshtensor/tensor/layout.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct layout : mt::layout<mt::shard<data, batch>> {};
}  // namespace net

int main() { return net::layout::rules.count; }
