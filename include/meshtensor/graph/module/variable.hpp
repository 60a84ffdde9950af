// SPDX-License-Identifier: Apache-2.0
// Rows of parameters and states.
#pragma once

#include <cstdint>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/tensor/ids.hpp"
#include "meshtensor/tensor/layout.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor {

enum class initializer_kind : std::uint8_t { automatic, constant, normal, uniform };

/// A value that persists between steps: a parameter, or state.
struct variable {
  path_id path;
  dtype type;
  bool trainable;
  initializer_kind start;
  number_id number;  // constant: the value; normal: standard deviation; uniform: half the width
  shape dims;
  std::uint8_t own;  // the number of leading dims that enclosing loops added
  placement layout;
  site_id site;        // where it was declared first
  std::uint8_t again;  // how often a program declares it again, because weights are shared
  std::uint8_t equal;  // a mask of leading dims whose indices all start with the same numbers
  bool idle;           // whether a gradient is taken by it, although the loss does not depend on it
  bool alone;  // whether it is a norm's average over one replica's batch, although a policy keeps the replicas equal
};

}  // namespace meshtensor
