// SPDX-License-Identifier: Apache-2.0
// Turns the layout of a program into the layout of its replicas.
#pragma once

#include "meshtensor/tensor/layout.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor {
namespace detail {

/// The rules of a layout without an axis. A dim that no other axis shards stays whole.
constexpr layout_rules without_axis(layout_rules const& rules, name const& axis) {
  layout_rules left{};
  left.report = rules.report;
  for (int i = 0; i < rules.count; ++i) {
    layout_rule r = rules.rules[i];
    bool const replicates = r.count == 0;
    int kept = 0;
    for (int k = 0; k < r.count; ++k)
      if (!(r.axes[k] == axis)) r.axes[kept++] = r.axes[k];
    for (int k = kept; k < r.count; ++k) r.axes[k] = {};
    r.count = kept;
    if (kept != 0 || replicates || !r.scope.empty()) left.add(r);
  }
  return left;
}

/// The error of arguments that stand in another order.
template <bool InOrder>
inline constexpr type_finding arguments_over_replicas{};
template <>
inline constexpr type_finding arguments_over_replicas<false> = wrong<
    "T56 over_replicas takes the layout of one replica, then the dim of the replicas, then the axis that shards "
    "this dim: mt::over_replicas<layout, replica, data>">;

}  // namespace detail

/// The layout of replicas, made of the layout of one: the axis `Axis` shards the dim `Replica` instead of the batch, or
/// of any other dim. All other axes stay as they are, so each replica may be spread over several ranks:
///
///     using layout_of_replicas = mt::over_replicas<layout, replica, data>;
///
/// errors  T56 the arguments stand in another order
template <layout_type Layout, auto Replica, auto Axis>
struct over_replicas {
  static constexpr bool in_order =
      dim_type<std::remove_const_t<decltype(Replica)>> && mesh_axis<std::remove_const_t<decltype(Axis)>>;
  static_assert(is_valid<detail::arguments_over_replicas<in_order>>);
  static constexpr layout_rules sharding_rules = [] {
    layout_rules r = Layout::sharding_rules;
    if constexpr (in_order) {
      r = detail::without_axis(r, Axis.axis_name);
      shard<Replica, Axis>::add_to(r, name{});
    }
    return r;
  }();
  static_assert(is_valid<over_replicas::sharding_rules>);
  static constexpr layout_rules const& rules = sharding_rules;
};

}  // namespace meshtensor
