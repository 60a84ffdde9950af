// SPDX-License-Identifier: Apache-2.0
// Sums of tensors that may be shifted and multiplied by tensors of fewer dims. Norms and their gradients are such sums.
#pragma once

#include <optional>

#include "meshtensor/emit/stablehlo/text.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor::hlo {

/// A factor or a term that has fewer dims than the tensor to which it is joined.
struct small_value {
  value what;
  shape dims;
};

/// The term (whole - centre) * factor, which is added or subtracted.
struct linear_term {
  value whole;
  std::optional<small_value> centre{}, factor{};
  bool is_subtracted = false;
  bool is_narrow = false;    // `whole` is a widened bf16, so a difference from its centre saves none of its own digits
  value_id variance{no_id};  // of `whole` about its centre, in f64, if the program has it
};

/// The sum of the terms, plus or minus `rest`. The first term is not subtracted.
struct linear_form {
  std::vector<linear_term> terms;
  std::optional<small_value> rest;
  bool rest_is_subtracted = false;
};

}  // namespace meshtensor::hlo
