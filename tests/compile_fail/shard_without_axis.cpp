// SPDX-License-Identifier: Apache-2.0
// A rule that shards says over which axis.
// expect: meshtensor S08: shard<dim, axis...> names at least one axis of the mesh
#include "meshtensor/tensor/layout.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
struct layout : mt::layout<mt::shard<batch>> {};
}  // namespace net

int main() { return net::layout::rules.count; }
