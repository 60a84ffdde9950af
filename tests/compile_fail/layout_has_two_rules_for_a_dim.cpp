// SPDX-License-Identifier: Apache-2.0
// One dim, one scope, one rule.
// expect: S07 the layout has two rules for the dim 'batch': keep one of them
#include "meshtensor/tensor/layout.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct layout : mt::layout<mt::shard<batch, data>, mt::replicate<batch>> {};
}  // namespace net

int main() { return net::layout::rules.count; }
