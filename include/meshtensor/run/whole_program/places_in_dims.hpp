// SPDX-License-Identifier: Apache-2.0
// Checks before a step that positions of slices, pads and puts are within their dims, if they are numbers of the step.
// This is for devices whose programs do not check it.
#pragma once

#include <vector>

#include "meshtensor/op/rules.hpp"
#include "meshtensor/pass/bind/known_number.hpp"

namespace meshtensor {

class places_in_dims {
 public:
  places_in_dims(module const& m, binding const& numbers) : m_(m), numbers_(numbers) {
    for (int i = 0; i < m.node_count; ++i)
      if (changes(m.nodes[i])) nodes_.push_back(i);
  }

  /// errors  R10 a position of this step is beyond its dim, or a step is 0
  void require(number_value const* numbers) const {
    for (int const i : nodes_) require_places(m_, m_.nodes[i], numbers, numbers_.extent);
  }

 private:
  /// Whether any position is a number of the step.
  bool changes(node const& n) const {
    declaration const& d = declared(m_, n);
    for (int k = 0; k < max_attributes; ++k)
      if (d.attributes[k].kind == attribute_kind::place && n.attribute[k] != id{no_id} &&
          !known_number(m_, numbers_, static_cast<number_id>(n.attribute[k])))
        return true;
    return false;
  }

  meshtensor::module const& m_;
  binding const& numbers_;
  std::vector<int> nodes_;
};

}  // namespace meshtensor
