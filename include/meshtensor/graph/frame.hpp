// SPDX-License-Identifier: Apache-2.0
// A region while it is made: the lists of its arguments, and the outer values that they stand for.
#pragma once

#include <span>

#include "meshtensor/graph/module.hpp"

namespace meshtensor {

using ids = std::span<id const>;

/// A short list of ids while it grows. One more than fits is kept, so that `builder::add_links` can tell (G12).
template <int Most = 192>
struct id_list {
  static constexpr int most = Most;
  int count;
  id at[Most + 1];
  constexpr void add(id i) {
    if (count <= Most) at[count++] = i;
  }
  constexpr void add_all(ids more) {
    for (id i : more) add(i);
  }
  constexpr operator ids() const { return {at, static_cast<std::size_t>(count)}; }  // NOLINT: a list is a range of ids
};

/// What encloses a region that is being made: which outer values it uses, and as which argument.
struct frame {
  id region, around;                          // it, and where its owner will stand
  id loop_dim;                                // the dim that stacked values lead with; no_id: no loop
  bool shares_parameters;                     // parameters made inside are the same in every iteration
  id_list<> carries;                          // arguments
  id_list<> stacked, stacked_arguments;       // outer value, argument
  id_list<> invariants, invariant_arguments;  // outer value, argument
};

}  // namespace meshtensor
