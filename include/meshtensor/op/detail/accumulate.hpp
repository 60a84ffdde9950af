// SPDX-License-Identifier: Apache-2.0
// Adds one block to another.
#pragma once

#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/tensor/view.hpp"

namespace meshtensor {

/// Adds elements [first, last) of a dense block to those of another. Each sum is computed in the type arithmetic_t.
inline void accumulate(view const& total, view const& term, std::int64_t first, std::int64_t last) {
  with_element(total.type, [&]<class E>() {
    E* const to = total.as<E>();
    E const* const from = term.as<E>();
    for (std::int64_t i = first; i < last; ++i)
      to[i] = static_cast<E>(static_cast<arithmetic_t<E>>(to[i]) + static_cast<arithmetic_t<E>>(from[i]));
  });
}

}  // namespace meshtensor
