// SPDX-License-Identifier: Apache-2.0
// Lists the operations with the functions that prepare the work of their nodes on the GPU. Each function is in the file
// of its operation.
#pragma once

#include "meshtensor/device/cuda/nodes/all_to_all_rows.hpp"
#include "meshtensor/device/cuda/nodes/argmax.hpp"
#include "meshtensor/device/cuda/nodes/argsort.hpp"
#include "meshtensor/device/cuda/nodes/concat.hpp"
#include "meshtensor/device/cuda/nodes/constant.hpp"
#include "meshtensor/device/cuda/nodes/conv.hpp"
#include "meshtensor/device/cuda/nodes/cumulative_sum.hpp"
#include "meshtensor/device/cuda/nodes/einsum.hpp"
#include "meshtensor/device/cuda/nodes/gather.hpp"
#include "meshtensor/device/cuda/nodes/grouped_einsum.hpp"
#include "meshtensor/device/cuda/nodes/iota.hpp"
#include "meshtensor/device/cuda/nodes/iteration.hpp"
#include "meshtensor/device/cuda/nodes/pad.hpp"
#include "meshtensor/device/cuda/nodes/permute.hpp"
#include "meshtensor/device/cuda/nodes/pool.hpp"
#include "meshtensor/device/cuda/nodes/put.hpp"
#include "meshtensor/device/cuda/nodes/scatter_add.hpp"
#include "meshtensor/device/cuda/nodes/shift.hpp"
#include "meshtensor/device/cuda/nodes/slice.hpp"
#include "meshtensor/device/cuda/nodes/stack.hpp"
#include "meshtensor/device/cuda/nodes/transpose.hpp"
#include "meshtensor/graph/primitive_table.hpp"

namespace meshtensor::cuda {

/// These operations have no function.
inline constexpr std::nullptr_t in_fused_kernels = nullptr;  // a fused kernel computes it, even if it stands alone
inline constexpr std::nullptr_t is_view = nullptr;           // its result shares the memory of its operand
inline constexpr std::nullptr_t refused = nullptr;           // R84: for example, a call runs a function of the host

struct node_function {
  primitive of;
  node_work (*prepare)(node_setup const&);
};
inline constexpr node_function node_functions[] = {
    {primitive::iteration, iteration_of},
    {primitive::constant, constant_of},
    {primitive::iota, iota_of},
    {primitive::random, in_fused_kernels},
    {primitive::elementwise, in_fused_kernels},
    {primitive::einsum, einsum_of},
    {primitive::grouped_einsum, grouped_einsum_of},
    {primitive::reduce, in_fused_kernels},
    {primitive::conv, conv_of},
    {primitive::pool, pool_of},
    {primitive::argmax, argmax_of},
    {primitive::broadcast, transpose_of},
    {primitive::transpose, transpose_of},
    {primitive::rename, is_view},
    {primitive::reshape, is_view},
    {primitive::slice, slice_of},
    {primitive::pad, pad_of},
    {primitive::reshard, is_view},
    {primitive::concat, concat_of},
    {primitive::put, put_of},
    {primitive::gather, gather_of},
    {primitive::scatter_add, scatter_add_of},
    {primitive::all_to_all_rows, all_to_all_rows_of},
    {primitive::permute, permute_of},
    {primitive::cumulative_sum, cumulative_sum_of},
    {primitive::argsort, argsort_of},
    {primitive::shift, shift_of},
    {primitive::stack, stack_of},
    {primitive::call, refused},
    {primitive::extension, refused},
};
static_assert(lists_operations(node_functions),
              "the rows are not the operations of graph/primitive.hpp in their order");

/// The work of a node, or none if the node does not run on the GPU by itself or is too large.
inline node_work work_of(node_setup const& s) {
  auto const prepare = is_computed(s.n.kind) ? node_functions[operation_row(s.n.kind)].prepare : nullptr;
  return prepare == nullptr ? node_work{} : prepare(s);
}

}  // namespace meshtensor::cuda
