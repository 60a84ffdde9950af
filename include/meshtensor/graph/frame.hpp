// SPDX-License-Identifier: Apache-2.0
// A region under construction: the lists of its arguments, and the outer values that they stand for.
#pragma once

#include <span>

#include "meshtensor/graph/attributes.hpp"

namespace meshtensor {

using ids = std::span<value_id const>;

/// A growing list of ids. It keeps one id more than fits, so that `builder::add_links` can report the overflow (G12).
template <int Most = max_operands, class Id = value_id>
struct id_list {
  static constexpr int most = Most;
  int count;
  Id at[Most + 1];
  constexpr void add(Id i) {
    if (count <= Most) at[count++] = i;
  }
  constexpr void add_all(std::span<Id const> more) {
    for (Id i : more) add(i);
  }
  constexpr operator std::span<Id const>() const {  // NOLINT: a list is a range of ids
    return {at, static_cast<std::size_t>(count)};
  }
};

/// A region under construction: the outer values that it uses, and the argument for each of them.
struct frame {
  region_id region, around;                   // the region, and the region in which its owner node will be
  dim_id loop_dim;                            // the leading dim of stacked values, no_id if it is no loop
  bool shares_parameters;                     // parameters made inside are the same in every iteration
  bool is_steps;                              // of mt::steps: each iteration has its own inputs and outputs
  id_list<> carries;                          // arguments
  id_list<> stacked, stacked_arguments;       // outer value, argument
  id_list<> invariants, invariant_arguments;  // outer value, argument
};

/// The next value of a variable in the body of a loop or branch that is not complete.
struct state_update {
  variable_id variable;
  region_id region;       // the body
  value_id before, next;  // the state's value in the body, and the value that replaces it
  path_id path;
  site_id site;
  counted_update counted;
  bool stacked;          // `before` is a slice
  bool of_other_branch;  // the first branch of a cond has it, while the second one is recorded
  bool amends;           // in a branch, it replaces an update that the body around the cond made before
};

}  // namespace meshtensor
