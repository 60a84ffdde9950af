// SPDX-License-Identifier: Apache-2.0
// Sums of tensors, each perhaps shifted and multiplied by tensors of fewer dims, as norms and their gradients are.
#pragma once

#include <optional>

#include "meshtensor/emit/stablehlo/text.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor::hlo {

/// A factor or a term of fewer dims than what it is joined to.
struct small_value {
  value what;
  shape dims;
};

/// (whole - centre) * factor, or less that.
struct linear_term {
  value whole;
  std::optional<small_value> centre{}, factor{};
  bool is_subtracted = false;
  bool is_narrow = false;  // `whole` is a bf16 made wider, so the digits that its centre would save are none of its own
  value_id variance{no_id};  // of `whole` about its centre, in f64, if the program has it
};

/// The sum of the terms, the first of which is not subtracted, plus or minus `rest`.
struct linear_form {
  std::vector<linear_term> terms;
  std::optional<small_value> rest;
  bool rest_is_subtracted = false;
};

}  // namespace meshtensor::hlo
