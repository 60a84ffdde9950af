// SPDX-License-Identifier: Apache-2.0
// Rematerialization (activation checkpointing): a layer's values are recomputed for its gradient instead of saved.
#pragma once

#include "meshtensor/graph/scope.hpp"

namespace meshtensor {

namespace detail {
/// Nodes that are recorded while it lives may be recomputed (see node::copy).
class made_again {
 public:
  constexpr explicit made_again(builder& b) : b_(b), before_(b.copy) {
    if (before_ == 0) b.copy = static_cast<id>(b.m.node_count + 1);  // no other layer begins at this node
  }
  constexpr ~made_again() { b_.copy = before_; }
  made_again(made_again const&) = delete;
  made_again& operator=(made_again const&) = delete;

 private:
  builder& b_;
  id before_;
};

template <class Layer>
struct rematerialized {
  Layer body;
  template <scope S, class... Args>
  constexpr auto operator()(S const& s, Args const&... args) const {
    made_again const here(s.graph_builder());
    return body(s, args...);
  }
};
}  // namespace detail

/// Marks a layer in a loop for recomputation: `repeat(s / "layers", layers, x, rematerialize(block))`. For every
/// iteration, only the layer's inputs are saved, or a smaller value that follows from them. The rest is recomputed, so
/// the step takes about a third more arithmetic and a fraction of the memory (`--explain` has both). A loop in the
/// layer runs again. Results are bit-equal, random numbers included. Results of attention are saved. Outside of a loop
/// it is the layer itself.
///
/// source  Chen et al., arXiv:1604.06174
template <class Layer>
constexpr auto rematerialize(Layer const& body) {
  return detail::rematerialized<Layer>{body};
}

}  // namespace meshtensor
