// SPDX-License-Identifier: Apache-2.0
// Lists the operations with the functions that write them as StableHLO. Each function is in the file of its operation.
#pragma once

#include "meshtensor/emit/stablehlo/all_to_all_rows.hpp"
#include "meshtensor/emit/stablehlo/argmax.hpp"
#include "meshtensor/emit/stablehlo/argsort.hpp"
#include "meshtensor/emit/stablehlo/call.hpp"
#include "meshtensor/emit/stablehlo/collective.hpp"
#include "meshtensor/emit/stablehlo/concat.hpp"
#include "meshtensor/emit/stablehlo/constant.hpp"
#include "meshtensor/emit/stablehlo/conv.hpp"
#include "meshtensor/emit/stablehlo/cumulative_sum.hpp"
#include "meshtensor/emit/stablehlo/einsum.hpp"
#include "meshtensor/emit/stablehlo/elementwise.hpp"
#include "meshtensor/emit/stablehlo/extension.hpp"
#include "meshtensor/emit/stablehlo/gather.hpp"
#include "meshtensor/emit/stablehlo/grouped_einsum.hpp"
#include "meshtensor/emit/stablehlo/iota.hpp"
#include "meshtensor/emit/stablehlo/iteration.hpp"
#include "meshtensor/emit/stablehlo/move_rows.hpp"
#include "meshtensor/emit/stablehlo/pad.hpp"
#include "meshtensor/emit/stablehlo/permute.hpp"
#include "meshtensor/emit/stablehlo/pool.hpp"
#include "meshtensor/emit/stablehlo/put.hpp"
#include "meshtensor/emit/stablehlo/random.hpp"
#include "meshtensor/emit/stablehlo/reduce.hpp"
#include "meshtensor/emit/stablehlo/rename.hpp"
#include "meshtensor/emit/stablehlo/reshape.hpp"
#include "meshtensor/emit/stablehlo/reshard.hpp"
#include "meshtensor/emit/stablehlo/scatter_add.hpp"
#include "meshtensor/emit/stablehlo/shift.hpp"
#include "meshtensor/emit/stablehlo/slice.hpp"
#include "meshtensor/emit/stablehlo/stack.hpp"
#include "meshtensor/emit/stablehlo/transpose.hpp"
#include "meshtensor/graph/primitive_table.hpp"

namespace meshtensor::hlo {

/// The row of an operation that has no StableHLO: R01.
inline constexpr std::nullptr_t refused = nullptr;

struct node_function {
  primitive of;
  value (*write)(emission&, node const&);
};
inline constexpr node_function node_functions[] = {
    {primitive::iteration, iteration},
    {primitive::constant, constant},
    {primitive::iota, iota},
    {primitive::random, random},
    {primitive::elementwise, elementwise},
    {primitive::einsum, einsum},
    {primitive::grouped_einsum, grouped_einsum},
    {primitive::reduce, reduce},
    {primitive::conv, conv},
    {primitive::pool, pool},
    {primitive::argmax, argmax},
    {primitive::broadcast, transpose},
    {primitive::transpose, transpose},
    {primitive::rename, rename},
    {primitive::reshape, reshape},
    {primitive::slice, slice},
    {primitive::pad, pad},
    {primitive::reshard, reshard},
    {primitive::concat, concat},
    {primitive::put, put},
    {primitive::gather, gather},
    {primitive::scatter_add, scatter_add},
    {primitive::all_to_all_rows, all_to_all_rows},
    {primitive::permute, permute},
    {primitive::cumulative_sum, cumulative_sum},
    {primitive::argsort, argsort},
    {primitive::shift, shift},
    {primitive::stack, stack},
    {primitive::call, call},
    {primitive::extension, extension},
};
static_assert(lists_operations(node_functions),
              "the rows are not the operations of graph/primitive.hpp in their order");

/// Writes a node without regions.
/// errors  R01 the node cannot be emitted
inline value write_node(emission& e, node const& n) {
  if (is_computed(n.kind))
    if (auto const write = node_functions[operation_row(n.kind)].write; write != nullptr) return write(e, n);
  switch (n.kind) {
    case primitive::wait: return e.operand(n);
    case primitive::move: return move(e, n);
    case primitive::local_slice: return own_part(e, n);
    case primitive::move_rows: return permutes(n) ? permute_on_mesh(e, n) : move_rows(e, n);
    default: break;
  }
  if (is_collective(n.kind)) return emit_collective(e, n);
  e.refuse(n, text_of(n.kind));
}

}  // namespace meshtensor::hlo
