// SPDX-License-Identifier: Apache-2.0
// Finds the positions of slices, pads and puts along a dim. They are known before the first step, or they are numbers
// of the step and arguments of the program. In the second case, run/whole_program/places_in_dims.hpp checks them before
// the step.
#pragma once

#include <algorithm>
#include <optional>

#include "meshtensor/emit/stablehlo/emission.hpp"
#include "meshtensor/op/detail/moved.hpp"
#include "meshtensor/op/detail/window_step.hpp"

namespace meshtensor::hlo {

/// `x` with the elements from `first` on along dim `k` overwritten by `run`.
inline value updated(emission& e, value const& x, value const& run, std::size_t k, value const& first) {
  std::vector<value> operands{x, run};
  for (std::size_t i = 0; i < x.type.shape.size(); ++i) operands.push_back(i == k ? first : like(e.w, first, 0));
  return e.w.op("dynamic_update_slice", operands, x.type);
}

/// The step of a slice or a pad, if it is known. It is 1 if the node has none. errors R10 it is 0
inline std::optional<std::int64_t> known_step(emission const& e, number_id row) {
  auto const by = row == no_id ? std::optional(number_value(1)) : e.known(row);
  if (!by) return {};
  number_value const numbers[] = {0, *by};
  return positions_of(numbers, number_id{0}, number_id{1}).step;
}
/// The positions, if they are known. errors R10 the step is 0
inline std::optional<positions> known_places(emission const& e, number_id first, number_id step) {
  auto const at = e.known(first);
  auto const by = known_step(e, step);
  if (!at || !by) return {};
  return positions{whole_number(*at), *by};
}

/// The elements of `x` along dim `k` at these positions, [count].
inline value at_each(emission& e, value const& x, std::size_t k, value const& positions) {
  extents others, sizes = x.type.shape;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (i != k) others.push_back(static_cast<std::int64_t>(i));
  sizes[k] = 1;
  type t = x.type;
  t.shape[k] = positions.type.shape[0];
  std::string const along = std::to_string(k);
  return e.w.op("gather", {x, positions}, t,
                "dimension_numbers = #stablehlo.gather<offset_dims = [" + list_text(others) +
                    "], collapsed_slice_dims = [" + along + "], start_index_map = [" + along +
                    "], index_vector_dim = 1>, slice_sizes = " + array_text(sizes) + ", indices_are_sorted = false");
}

}  // namespace meshtensor::hlo
