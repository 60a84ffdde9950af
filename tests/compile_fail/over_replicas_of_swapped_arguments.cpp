// SPDX-License-Identifier: Apache-2.0
// The dim of the replicas comes before the axis that shards it.
// expect: T56 over_replicas takes the layout of one replica, then the dim of the replicas, then the axis
#include "meshtensor/regime/regime.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct replica_dim : mt::dim<"replica", 4> {} replica;
inline constexpr struct data_axis : mt::axis<"data"> {} data;
struct layout : mt::over_replicas<mt::layout<>, data, replica> {};
static_assert(mt::layout_type<layout>);
}  // namespace

int main() {}
