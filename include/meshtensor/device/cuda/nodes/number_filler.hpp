// SPDX-License-Identifier: Apache-2.0
// Fills memory on the GPU with a number of the module.
#pragma once

#include <cstring>

#include "meshtensor/device/cuda/recording.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor::cuda {

/// Fills dense memory with the number in a row of the module's table.
class number_filler {
 public:
  number_filler(preparation& p, dtype type) : block_(p.block()) {
    number_ = p.over_elements(joined({"if (i < a.n[0]) ((", type_text(type), "*)a.p[0])[i] = put<", type_text(type),
                                      ">(number<", type_text(type), ">(a, a.n[1]));\n"}),
                              1)
                  .number;
  }
  void fill(recording& to_do, view const& y, id row, address state) const {
    launch_arguments a;
    std::memset(&a, 0, sizeof a);
    a.p[0] = y.as<std::byte>(), a.n[0] = y.size(), a.n[1] = row, a.state = state;
    to_do.launch({number_, {(y.size() + block_ - 1) / block_, block_}}, a);
  }

 private:
  std::size_t number_ = 0;
  int block_;
};

}  // namespace meshtensor::cuda
