// SPDX-License-Identifier: Apache-2.0
// A region while it is made: the lists of its arguments, and the outer values that they stand for.
#pragma once

#include <span>

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

using ids = std::span<id const>;

/// A short list of ids while it grows.
template <int Capacity = 192>
struct id_list {
  int count;
  id at[Capacity];
  constexpr void add(id i) {
    require(count < Capacity,
            "G12: one node has more than 192 operands or results, as a gradient by so many parameters: write equal "
            "layers as one repeat");
    at[count++] = i;
  }
  constexpr void add_all(ids more) {
    for (id i : more) add(i);
  }
  constexpr operator ids() const { return {at, static_cast<std::size_t>(count)}; }  // NOLINT: a list is a range of ids
};

/// What encloses a region that is being made: which outer values it uses, and as which argument.
struct frame {
  id region;
  id loop_dim;                                // the dim that stacked values lead with; no_id: no loop
  bool shares_parameters;                     // parameters made inside are the same in every iteration
  id_list<> carries;                          // arguments
  id_list<> stacked, stacked_arguments;       // outer value, argument
  id_list<> invariants, invariant_arguments;  // outer value, argument
};

}  // namespace meshtensor
