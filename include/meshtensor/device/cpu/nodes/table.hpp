// SPDX-License-Identifier: Apache-2.0
// Maps each primitive to the struct that runs its nodes on the cpu device.
#pragma once

#include "meshtensor/device/cpu/nodes/argsort.hpp"
#include "meshtensor/device/cpu/nodes/call.hpp"
#include "meshtensor/device/cpu/nodes/conv.hpp"
#include "meshtensor/device/cpu/nodes/cumulative_sum.hpp"
#include "meshtensor/device/cpu/nodes/einsum.hpp"
#include "meshtensor/device/cpu/nodes/exchange_rows.hpp"
#include "meshtensor/device/cpu/nodes/gather.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum.hpp"
#include "meshtensor/device/cpu/nodes/pad.hpp"
#include "meshtensor/device/cpu/nodes/pool.hpp"
#include "meshtensor/device/cpu/nodes/put.hpp"
#include "meshtensor/device/cpu/nodes/scatter_add.hpp"
#include "meshtensor/device/cpu/nodes/shift.hpp"
#include "meshtensor/device/cpu/nodes/slice.hpp"
#include "meshtensor/device/cpu/nodes/stack.hpp"
#include "meshtensor/device/cpu/nodes/transpose.hpp"
#include "meshtensor/op/rules.hpp"

namespace meshtensor::cpu {
inline namespace MESHTENSOR_ARCH {

/// Calls `f.operator()<Kernel>()` with the struct that runs the nodes of a primitive.
template <class F>
constexpr decltype(auto) with_kernel(primitive p, F&& f) {
  switch (p) {
    case primitive::einsum: return f.template operator()<einsum_kernel<>>();
    case primitive::grouped_einsum: return f.template operator()<grouped_einsum_kernel<>>();
    case primitive::conv: return f.template operator()<conv_kernel<>>();
    case primitive::pool: return f.template operator()<pool_kernel<>>();
    case primitive::transpose:
    case primitive::broadcast: return f.template operator()<transpose_kernel>();
    case primitive::slice: return f.template operator()<slice_kernel>();
    case primitive::pad: return f.template operator()<pad_kernel>();
    case primitive::put: return f.template operator()<put_kernel>();
    case primitive::gather: return f.template operator()<gather_kernel>();
    case primitive::scatter_add: return f.template operator()<scatter_add_kernel>();
    case primitive::exchange_rows: return f.template operator()<exchange_rows_kernel>();
    case primitive::cumulative_sum: return f.template operator()<cumulative_sum_kernel>();
    case primitive::argsort: return f.template operator()<argsort_kernel>();
    case primitive::shift: return f.template operator()<shift_kernel>();
    case primitive::stack: return f.template operator()<stack_kernel>();
    case primitive::call: return f.template operator()<call_kernel>();
    default: return f.template operator()<no_kernel>();
  }
}

/// Returns the kernel of a node, or null if the rule's `evaluate` runs the node. `Among` lists the primitives that
/// occur, so that the compiler instantiates no kernels for others.
template <primitives Among = primitives::all()>
std::unique_ptr<node_kernel> prepare_node(node_setup const& s) {
  return with_kernel(s.n.kind, [&]<class K>() -> std::unique_ptr<node_kernel> {
    if constexpr (meshtensor::detail::leads_to<K>(Among, [](primitive p, auto f) { return with_kernel(p, f); }))
      return K::prepare(s);
    else return nullptr;
  });
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
