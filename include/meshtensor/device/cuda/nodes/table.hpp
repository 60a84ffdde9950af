// SPDX-License-Identifier: Apache-2.0
// Maps each primitive to the function that prepares the work of its nodes on the GPU.
#pragma once

#include "meshtensor/device/cuda/box_copier.hpp"
#include "meshtensor/device/cuda/nodes/argmax.hpp"
#include "meshtensor/device/cuda/nodes/argsort.hpp"
#include "meshtensor/device/cuda/nodes/concat.hpp"
#include "meshtensor/device/cuda/nodes/constant.hpp"
#include "meshtensor/device/cuda/nodes/cumulative_sum.hpp"
#include "meshtensor/device/cuda/nodes/exchange_rows.hpp"
#include "meshtensor/device/cuda/nodes/gather.hpp"
#include "meshtensor/device/cuda/nodes/grouped_einsum.hpp"
#include "meshtensor/device/cuda/nodes/iota.hpp"
#include "meshtensor/device/cuda/nodes/iteration.hpp"
#include "meshtensor/device/cuda/nodes/pad.hpp"
#include "meshtensor/device/cuda/nodes/pool.hpp"
#include "meshtensor/device/cuda/nodes/put.hpp"
#include "meshtensor/device/cuda/nodes/scatter_add.hpp"
#include "meshtensor/device/cuda/nodes/shift.hpp"
#include "meshtensor/device/cuda/nodes/slice.hpp"
#include "meshtensor/device/cuda/nodes/stack.hpp"
#include "meshtensor/device/cuda/nodes/transpose.hpp"
#include "meshtensor/device/cuda/recording.hpp"

namespace meshtensor::cuda {

/// The work of a node whose kernels do not depend on the alignment of addresses. It is none if the node is another one
/// or too large.
inline node_work work_of(preparation& p, box_copier const& copier, node const& n, view const* operands,
                         view const* results) {
  switch (n.kind) {
    case primitive::constant: return constant_of(p, results[0]);
    case primitive::iota: return iota_of(p, results[0]);
    case primitive::iteration: return iteration_of(p, results[0]);
    case primitive::broadcast:
    case primitive::transpose: return transpose_of(copier);
    case primitive::slice: return slice_of(copier);
    case primitive::pad: return pad_of(p, copier, results[0]);
    case primitive::concat: return concat_of(copier);
    case primitive::stack: return stack_of(copier);
    case primitive::shift: return shift_of(p, copier, results[0]);
    case primitive::gather: return gather_of(p, n, operands, results[0]);
    case primitive::scatter_add: return scatter_add_of(p, n, operands, results[0]);
    case primitive::put: return put_of(p, copier, n, operands, results[0]);
    case primitive::argmax: return argmax_of(p, n, operands[0], results[0]);
    case primitive::argsort: return argsort_of(p, n, operands[0], results[0]);
    case primitive::cumulative_sum: return cumulative_sum_of(p, n, operands[0], results[0]);
    case primitive::pool: return pool_of(p, n, operands, results[0]);
    case primitive::exchange_rows: return exchange_rows_of(p, n, operands, results[0]);
    case primitive::grouped_einsum: return grouped_einsum_of(p, n, operands, results[0]);
    default: return {};
  }
}

}  // namespace meshtensor::cuda
