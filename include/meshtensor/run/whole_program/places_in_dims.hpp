// SPDX-License-Identifier: Apache-2.0
// Checks before a step that slices, pads and puts at numbers of the step are within their dims, for devices whose
// programs do not check it.
#pragma once

#include <vector>

#include "meshtensor/op/put.hpp"
#include "meshtensor/op/slice.hpp"
#include "meshtensor/pass/bind/known_number.hpp"

namespace meshtensor {

class places_in_dims {
 public:
  places_in_dims(module const& m, binding const& numbers) : m_(m), numbers_(numbers) {
    for (int i = 0; i < m.node_count; ++i)
      if (changes(m.nodes[i])) nodes_.push_back(i);
  }

  /// errors  R10 a place of this step is beyond its dim, or a step is 0
  void require(double const* numbers) const {
    for (int const i : nodes_) {
      node const& n = m_.nodes[i];
      if (n.kind == primitive::put) {
        put_attributes const a = put_attributes::of(n);
        put_rule::require_within(m_, whole_number(numbers[a.position]), a.dim, numbers_.extent[a.dim]);
        continue;
      }
      moved const a = moved_of(n);
      require_within(m_, positions_of(numbers, a.first, a.step), a.how, a.from, numbers_.extent[a.from], a.to,
                     numbers_.extent[a.to]);
    }
  }

 private:
  /// A slice or a pad, whether processors exchange something or not.
  struct moved {
    dim_id from, to;
    number_id first, step;
    shift_kind how;
  };
  static moved moved_of(node const& n) {
    if (n.kind == primitive::slice) {
      slice_attributes const a = slice_attributes::of(n);
      return {a.from, a.to, a.first, a.step, shift_kind::cut};
    }
    if (n.kind == primitive::pad) {
      pad_attributes const a = pad_attributes::of(n);
      return {a.from, a.to, a.first, a.step, shift_kind::spread};
    }
    move_attributes const a = move_attributes::of(n);
    return {a.from, a.to, a.first, a.step, a.how};
  }
  bool changes(node const& n) const {
    auto const is_number_of_step = [&](number_id row) { return row != no_id && !known_number(m_, numbers_, row); };
    if (n.kind == primitive::put) return is_number_of_step(put_attributes::of(n).position);
    if (n.kind == primitive::move) {
      move_attributes const a = move_attributes::of(n);
      if (a.from == a.to) return false;  // a roll or a shift may have any number
    } else if (n.kind != primitive::slice && n.kind != primitive::pad) {
      return false;
    }
    moved const a = moved_of(n);
    return is_number_of_step(a.first) || is_number_of_step(a.step);
  }

  meshtensor::module const& m_;
  binding const& numbers_;
  std::vector<int> nodes_;
};

}  // namespace meshtensor
