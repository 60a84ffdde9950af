// SPDX-License-Identifier: Apache-2.0
// A loop or branch that not every index runs as often. All indices run it as often as the one that runs it most.
// why: an index that takes no part computes with the operands of one that does. Therefore no value is computed that the
// program would not compute, and no NaN or infinity of it can spoil a gradient.
#pragma once

#include "meshtensor/op/detail/arithmetic.hpp"
#include "meshtensor/op/iota.hpp"
#include "meshtensor/op/reduce.hpp"

namespace meshtensor::detail {

struct decision {
  value_id start;       // how many iterations are known to run at first, for the index that runs most
  value_id iterations;  // the argument that carries this number
  value_id takes_part;  // whether each index runs this iteration
  value_id first;       // true for the first of these, false for all others
  shape dims;           // of the indices
  bool is_within;       // an index takes part only if it runs the body around this one, too
  bool is_passed_on;  // the decision is about a body around this one. `start` and `iterations` are operands, for which
                      // `takes_part` and `first` stand

  /// This decision in a region within the body: its facts are arguments of the region.
  constexpr decision passed_on(builder& b) const {
    decision d{takes_part, first, {}, {}, dims, false, true};
    d.takes_part = b.add(primitive::argument, {}, dtype::boolean, b.m.values[takes_part].dims);
    d.first = b.add(primitive::argument, {}, dtype::boolean, b.m.values[first].dims);
    return d;
  }
  /// Compares the iteration with `known`, how many iterations each index is known to run. A branch runs at most once.
  constexpr void begin(builder& b, value_id known, shape const& of_indices, bool is_branch) {
    dims = of_indices;
    value_id const now = is_branch ? constant(b, 0, dtype::i64) : b.add(primitive::iteration, {}, dtype::i64, shape{});
    takes_part = elementwise(b, function::less, {now, known});
    mark_as_mask_of_indices(b.m.nodes[b.m.values[takes_part].node]);
    value_id position = no_id;
    for (int i = 0; i < dims.count; ++i) {
      value_id const along = iota(b, dims.at[i], dtype::i64);
      if (position == no_id) {
        position = along;
        continue;
      }
      shape one{};
      number const extent = number::of_row(&b, extent_product(b, one.add(dims.at[i])));
      position = add(b, multiply(b, position, constant(b, extent, dtype::i64)), along);
    }
    value_id const taking = select(b, takes_part, position, constant(b, beyond, dtype::i64));
    first = elementwise(b, function::equal, {position, reduce(b, reduction::min, taking, dims)});
  }

  /// `x` with the slices of indices that take no part replaced by that of the first one that does.
  constexpr value_id stand_in(builder& b, value_id x) const {
    value const like = b.m.values[x];
    value_id const chosen = select(b, first, x, constant(b, 0, like.type));
    shape const along = common(b.m.values[chosen].dims, dims);
    value_id const taking = reduce(b, like.type == dtype::boolean ? reduction::max : reduction::sum, chosen, along);
    return select(b, takes_part, x, elementwise(b, function::stop_gradient, taking));
  }

 private:
  static constexpr double beyond = 0x1p53;  // no dims have so many elements
};

/// The decisions of a program, by the region that they are about.
struct decisions {
  static constexpr int most = 64;
  int count;
  decision rows[most];
  id of[max_regions];  // a row, plus 1

  constexpr decision& add(builder& b, region_id region) {
    if (!b.expect(count < most, "G42 more than 64 loops and branches differ by index")) --count;
    of[region] = static_cast<id>(++count);
    return rows[count - 1];
  }
  constexpr decision& at(region_id region) { return rows[of[region] - 1]; }
  constexpr decision const* find(region_id region) const { return of[region] == 0 ? nullptr : &rows[of[region] - 1]; }
};

}  // namespace meshtensor::detail
