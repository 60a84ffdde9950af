// SPDX-License-Identifier: Apache-2.0
// Rows of functions of the user: calls, and operations that are declared outside of the library.
#pragma once

#include <cstdint>

#include "meshtensor/tensor/ids.hpp"
#include "meshtensor/tensor/shape.hpp"

namespace meshtensor {

struct evaluation;  // graph/rule.hpp

/// The library's own function behind a call, for devices that run no C++ functions.
enum class library_call : std::uint8_t { none, top_positions };
/// A user's C++ function as an operation. It has the dims that it sees whole, the dims that it returns in their place,
/// and the function, which runs over a range of the points of all other dims.
struct call_row {
  name_id label;
  library_call library;
  shape whole, gives;
  void (*run)(evaluation const&, std::int64_t first, std::int64_t last);
  std::int64_t (*parts)(evaluation const&);  // the number of parts
};

struct operation;  // op/extension.hpp

/// An operation that is declared outside of the library.
struct extension_row {
  name_id label;
  operation const* rules;
};

}  // namespace meshtensor
