// SPDX-License-Identifier: Apache-2.0
// A rule names one scope, not a path of them.
// expect: S09 in<"decoder/attention", ...> names a path of scopes: name the inner one alone
#include "meshtensor/tensor/layout.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch_dim : mt::dim<"batch", 4> {} batch;
inline constexpr struct data_axis : mt::axis<"data", 2> {} data;
struct layout : mt::layout<mt::in<"decoder/attention", mt::shard<batch, data>>> {};
}  // namespace net

int main() { return net::layout::rules.count; }
