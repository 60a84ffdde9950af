// SPDX-License-Identifier: Apache-2.0
// One dim is spread over an axis once.
// expect: S05 the dim
#include "meshtensor/tensor/layout.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct layout : mt::layout<mt::shard<batch, data, data>> {};
}  // namespace net

int main() { return net::layout::rules.count; }
