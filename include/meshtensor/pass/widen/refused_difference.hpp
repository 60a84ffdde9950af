// SPDX-License-Identifier: Apache-2.0
// Finds nodes that must not differ from index to index of an each.
#pragma once

#include "meshtensor/pass/widen/hidden_dims.hpp"

namespace meshtensor::detail {

/// The error of a node that differs by index but must not, or an empty diagnostic.
constexpr diagnostic refused_difference(hidden_dims const& hidden, node const& n) {
  meshtensor::module const& m = hidden.m;
  diagnostic d{};
  for (int k = 0; k < n.results.count; ++k)
    if (!hidden.wide(m.result(n, k)).fits())
      return d << "T07 a tensor has more than 10 dims, those of each included: merge some, or sum over them before";
  for (int k = 0; k < n.results.count; ++k)
    if (dim_id const dim = hidden.hidden_and_shown(m.result(n, k)); dim != no_id)
      return d << "G44 a tensor differs by index of '" << m.dim_name(dim)
               << "' and has this dim, too: rename the dim of the tensor that is the same for all indices";
  if (n.kind == primitive::show && hidden.dims_of(hidden.around(n.region)).has(view_attributes::of(n).dim))
    return d << "G46 across stands in a loop or branch that not all indices of '"
             << m.dim_name(view_attributes::of(n).dim) << "' run: some have no such value; call it outside";
  if (n.operands.count == 0 || hidden.without_copies[m.operand(n, 0)] == 0) return d;
  name const& dim = m.dim_name(hidden.first(hidden.without_copies[m.operand(n, 0)]));
  if (n.kind == primitive::write)
    return d << "G47 the next value of a variable from outside differs by index of '" << dim
             << "': declare the variable in the each, or return the value from the body, reduce it over the dim and "
                "update "
                "the variable outside";
  if (n.kind == primitive::output)
    return d << "G47 an output of map differs by index of '" << dim
             << "': return the tensor from the body and give it out outside";
  return d;
}

}  // namespace meshtensor::detail
