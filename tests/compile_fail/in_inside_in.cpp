// SPDX-License-Identifier: Apache-2.0
// Rules for scopes stand side by side.
// expect: S09 in<"inner", ...> stands inside in<"outer", ...>: write it beside it, the innermost scope wins
#include "meshtensor/tensor/layout.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct layout : mt::layout<mt::in<"outer", mt::in<"inner", mt::shard<batch, data>>>> {};
}  // namespace net

int main() { return net::layout::rules.count; }
