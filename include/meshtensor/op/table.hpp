// SPDX-License-Identifier: Apache-2.0
// Lists the rules of all primitives, one struct each. The rules of an operation are in the file of its name.
#pragma once

#include "meshtensor/graph/primitive_table.hpp"
#include "meshtensor/op/all_to_all_rows.hpp"
#include "meshtensor/op/argmax.hpp"
#include "meshtensor/op/argsort.hpp"
#include "meshtensor/op/broadcast.hpp"
#include "meshtensor/op/call.hpp"
#include "meshtensor/op/concat.hpp"
#include "meshtensor/op/constant.hpp"
#include "meshtensor/op/conv.hpp"
#include "meshtensor/op/cumulative_sum.hpp"
#include "meshtensor/op/detail/structure.hpp"
#include "meshtensor/op/einsum.hpp"
#include "meshtensor/op/elementwise.hpp"
#include "meshtensor/op/extension.hpp"
#include "meshtensor/op/gather.hpp"
#include "meshtensor/op/grouped_einsum.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/iteration.hpp"
#include "meshtensor/op/pad.hpp"
#include "meshtensor/op/permute.hpp"
#include "meshtensor/op/pool.hpp"
#include "meshtensor/op/put.hpp"
#include "meshtensor/op/random.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/op/rename.hpp"
#include "meshtensor/op/reshape.hpp"
#include "meshtensor/op/reshard.hpp"
#include "meshtensor/op/scatter_add.hpp"
#include "meshtensor/op/shift.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/op/stack.hpp"
#include "meshtensor/op/transpose.hpp"

namespace meshtensor {

// clang-format off
using rule_table = primitive_table<
    table_row<primitive::nothing, nothing_rule>,
    table_row<primitive::input, input_rule>,
    table_row<primitive::read, read_rule>,
    table_row<primitive::write, write_rule>,
    table_row<primitive::output, output_rule>,
    table_row<primitive::watch, watch_rule>,
    table_row<primitive::argument, argument_rule>,
    table_row<primitive::iteration, iteration_rule>,
    table_row<primitive::constant, constant_rule>,
    table_row<primitive::iota, iota_rule>,
    table_row<primitive::random, random_rule>,
    table_row<primitive::elementwise, elementwise_rule>,
    table_row<primitive::einsum, einsum_rule>,
    table_row<primitive::grouped_einsum, grouped_einsum_rule>,
    table_row<primitive::reduce, reduce_rule>,
    table_row<primitive::conv, conv_rule>,
    table_row<primitive::pool, pool_rule>,
    table_row<primitive::argmax, argmax_rule>,
    table_row<primitive::broadcast, broadcast_rule>,
    table_row<primitive::transpose, transpose_rule>,
    table_row<primitive::rename, rename_rule>,
    table_row<primitive::reshape, reshape_rule>,
    table_row<primitive::slice, slice_rule>,
    table_row<primitive::pad, pad_rule>,
    table_row<primitive::reshard, reshard_rule>,
    table_row<primitive::concat, concat_rule>,
    table_row<primitive::put, put_rule>,
    table_row<primitive::gather, gather_rule>,
    table_row<primitive::scatter_add, scatter_add_rule>,
    table_row<primitive::all_to_all_rows, all_to_all_rows_rule>,
    table_row<primitive::permute, permute_rule>,
    table_row<primitive::cumulative_sum, cumulative_sum_rule>,
    table_row<primitive::argsort, argsort_rule>,
    table_row<primitive::shift, shift_rule>,
    table_row<primitive::stack, stack_rule>,
    table_row<primitive::call, call_rule>,
    table_row<primitive::extension, extension_rule>,
    table_row<primitive::hide, hide_rule>,
    table_row<primitive::show, show_rule>,
    table_row<primitive::gradient, gradient_rule>,
    table_row<primitive::repeat, repeat_rule>,
    table_row<primitive::composite, composite_rule>,
    table_row<primitive::all_reduce, all_reduce_rule>,
    table_row<primitive::reduce_scatter, reduce_scatter_rule>,
    table_row<primitive::all_gather, all_gather_rule>,
    table_row<primitive::all_to_all, all_to_all_rule>,
    table_row<primitive::move, move_rule>,
    table_row<primitive::move_rows, move_rows_rule>,
    table_row<primitive::local_slice, local_slice_rule>,
    table_row<primitive::wait, wait_rule>,
    table_row<primitive::kernel, kernel_rule>>;
// clang-format on
static_assert(rule_table::lists(primitive::nothing, primitive::kernel),
              "the rows are not those of graph/primitive.hpp in their order");

/// Calls `f.operator()<Rule>()` with the rules of a primitive. Passes look rules up only here.
template <class F>
constexpr decltype(auto) with_rule(primitive p, F const& f) {
  return rule_table::call(p < primitive::count_ ? p : primitive::nothing, f);
}

}  // namespace meshtensor
