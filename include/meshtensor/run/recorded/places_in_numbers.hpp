// SPDX-License-Identifier: Apache-2.0
// Finds the numbers that are positions in tensors, because a recorded step is valid only as long as they keep their
// values.
#pragma once

#include <span>
#include <vector>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/graph/declaration.hpp"
#include "meshtensor/pass/list_instructions.hpp"

namespace meshtensor {

class places_in_numbers {
 public:
  places_in_numbers(module const& m, std::span<instruction const> instructions) {
    for (instruction const& i : instructions) {
      node const& n = m.nodes[i.node];
      declaration const& d = declared(m, n);
      for (int k = 0; k < max_attributes && d.has_places(); ++k)
        if (d.attributes[k].is_number() && n.attribute[k] != id{no_id}) rows_.push_back(n.attribute[k]);
    }
  }

  /// Whether any of them differs from its value in the last call.
  bool have_changed(number_value const* numbers) {
    bool other = false;
    known_.resize(rows_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      number_value const& now = numbers[rows_[i]];
      other = other || !now.is_same(known_[i]);
      known_[i] = now;
    }
    return other;
  }

 private:
  std::vector<id> rows_;  // of the table of numbers
  dynamic_array<number_value> known_;
};

}  // namespace meshtensor
