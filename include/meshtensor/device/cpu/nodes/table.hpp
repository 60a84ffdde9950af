// SPDX-License-Identifier: Apache-2.0
// Lists the operations with the structs that run them on the cpu device. Each struct is in the file of its operation.
#pragma once

#include "meshtensor/device/cpu/nodes/all_to_all_rows.hpp"
#include "meshtensor/device/cpu/nodes/argsort.hpp"
#include "meshtensor/device/cpu/nodes/call.hpp"
#include "meshtensor/device/cpu/nodes/conv.hpp"
#include "meshtensor/device/cpu/nodes/cumulative_sum.hpp"
#include "meshtensor/device/cpu/nodes/einsum.hpp"
#include "meshtensor/device/cpu/nodes/gather.hpp"
#include "meshtensor/device/cpu/nodes/grouped_einsum.hpp"
#include "meshtensor/device/cpu/nodes/pad.hpp"
#include "meshtensor/device/cpu/nodes/permute.hpp"
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

/// These operations need no kernel of their own.
using in_fused_kernels = no_kernel;  // a fused kernel computes it, or the rule's loops if it stands alone
using by_own_loops = no_kernel;      // the rule's `evaluate` computes it
using is_view = no_kernel;           // its result shares the memory of its operand

// clang-format off
using kernel_structs = primitive_table<
    table_row<primitive::iteration, by_own_loops>,
    table_row<primitive::constant, in_fused_kernels>,
    table_row<primitive::iota, in_fused_kernels>,
    table_row<primitive::random, in_fused_kernels>,
    table_row<primitive::elementwise, in_fused_kernels>,
    table_row<primitive::einsum, einsum_kernel<>>,
    table_row<primitive::grouped_einsum, grouped_einsum_kernel<>>,
    table_row<primitive::reduce, in_fused_kernels>,
    table_row<primitive::conv, conv_kernel<>>,
    table_row<primitive::pool, pool_kernel<>>,
    table_row<primitive::argmax, by_own_loops>,
    table_row<primitive::broadcast, transpose_kernel>,
    table_row<primitive::transpose, transpose_kernel>,
    table_row<primitive::rename, is_view>,
    table_row<primitive::reshape, is_view>,
    table_row<primitive::slice, slice_kernel>,
    table_row<primitive::pad, pad_kernel>,
    table_row<primitive::reshard, is_view>,
    table_row<primitive::concat, by_own_loops>,
    table_row<primitive::put, put_kernel>,
    table_row<primitive::gather, gather_kernel>,
    table_row<primitive::scatter_add, scatter_add_kernel>,
    table_row<primitive::all_to_all_rows, all_to_all_rows_kernel>,
    table_row<primitive::permute, permute_kernel>,
    table_row<primitive::cumulative_sum, cumulative_sum_kernel>,
    table_row<primitive::argsort, argsort_kernel>,
    table_row<primitive::shift, shift_kernel>,
    table_row<primitive::stack, stack_kernel>,
    table_row<primitive::call, call_kernel>,
    table_row<primitive::extension, by_own_loops>>;
// clang-format on
static_assert(kernel_structs::lists(first_operation, last_operation),
              "the rows are not the operations of graph/primitive.hpp in their order");

/// Calls `f.operator()<Kernel>()` with the struct that runs the nodes of a primitive.
template <class F>
constexpr decltype(auto) with_kernel(primitive p, F const& f) {
  return is_computed(p) ? kernel_structs::call(p, f) : f.template operator()<no_kernel>();
}

/// Returns the kernel of a node, or null if the rule's `evaluate` runs the node. `Among` lists the primitives that
/// occur, so that the compiler instantiates no kernels for others.
template <primitives Among = primitives::all()>
std::unique_ptr<node_kernel> prepare_node(node_setup const& s) {
  return with_kernel(s.n.kind, [&]<class K>() -> std::unique_ptr<node_kernel> {
    if constexpr (kernel_structs::leads_to<K>([](primitive p) { return Among.has(p); })) return K::prepare(s);
    else return nullptr;
  });
}

}  // namespace MESHTENSOR_ARCH
}  // namespace meshtensor::cpu
