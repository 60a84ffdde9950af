// SPDX-License-Identifier: Apache-2.0
// Rows of dims and mesh axes: extents, windows along dims, axes that shall shard them, and dims of the same elements.
#pragma once

#include <cstdint>

#include "meshtensor/base/config.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/graph/primitive.hpp"
#include "meshtensor/tensor/ids.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor {

struct dim_row {
  /// These kinds are made by the library:
  /// - same: a second dim with the extent of `first`.
  /// - blocks: the number of shards of `first`.
  /// - in_block: the extent of each shard, which is `first` divided by `second`.
  /// - halo: the elements of `first` that windows reach from a part of `second`, which is the part with its halo.
  /// - quotient: the extent of `first` divided by that of `second`, rounded up.
  /// - counted: the iterations of a loop. A number of the program is their upper bound.
  ///
  /// These kinds belong to exchanged rows. An index gives for each row a position along a dim of groups:
  /// - holders: the ranks that hold the rows. `first` is the dim of groups.
  /// - rows: the rows for which each rank has room. `first` is the dim of groups.
  /// - sent: the rows of the dim `first` that each rank may send.
  enum kind_t : std::uint8_t {
    fixed,
    dynamic,
    product,
    sum,
    shifted,
    windowed,
    holders,
    rows,
    same,
    blocks,
    in_block,
    halo,
    sent,
    counted,
    quotient
  } kind;
  name_id label;
  dim_id first, second;  // other rows. first, of a fixed extent: the dim of which these are the places of a window
  std::int64_t value;    // fixed: the extent; shifted: added to that of `first`; windowed: a window_places;
                         // blocks: a mask of axes; halo: a packed_halo; holders: a row_holders;
                         // counted: a row of the table of numbers
};

/// A window that moves along a dim. Element i of `input`, o of `output` and w of `kernel` meet where i = stride · o +
/// dilation · w - low. Positions beyond the ends of `input` are padding.
struct window_row {
  dim_id input, output, kernel;
  id stride, dilation;
  number_id low, high;  // padding at both ends, as rows of the table of numbers

  constexpr bool operator==(window_row const&) const = default;
};

struct axis_row {
  name_id label;
  std::int64_t extent;  // 0 if bound at start-up
  diagnostic conflict;  // S05, raised if this axis gets several ranks, because an axis of one shards nothing
};

/// One dim of a reshard: the names of the axes that shall shard it, the first axis major. Without axes, the dim becomes
/// unsharded.
struct reshard_request {
  dim_id dim;
  id count;
  name_id axes[max_axes];
};

/// Dims of an operand and dims of a result that hold the same elements. Their extents have the same product, or the
/// same sum if `adds`.
struct same_elements {
  shape before, after;
  bool adds;
  char const* becomes;  // for the error sentence, for example `renamed to`
};

/// Dims that hold the same elements by a node of one of the programs that are traced together: a dim and its parts, or
/// two dims. Ranks hold the same elements under both names, except if `same.adds`.
struct reshape_row {
  same_elements same;
  primitive kind;  // of the node
  site_id site;
  bool replaced;  // `partition` has replaced the node by others, so that `bind` checks this row instead of it
};

}  // namespace meshtensor
