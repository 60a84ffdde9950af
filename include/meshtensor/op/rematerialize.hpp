// SPDX-License-Identifier: Apache-2.0
// Less memory for more arithmetic: what a layer computes is made again for its gradient instead of being kept.
#pragma once

#include "meshtensor/graph/scope.hpp"

namespace meshtensor {

namespace detail {
/// Marks what is recorded while it lives; see node::copy.
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
    made_again const here(s.recorder());
    return body(s, args...);
  }
};
}  // namespace detail

/// The layer, in a loop: `repeat(s / "layers", layers, x, rematerialize(block))`. Its gradient keeps of every iteration
/// what the layer starts from, or whatever follows from it and is smaller, and makes the rest again: about a third more
/// arithmetic, a fraction of the memory (`--explain` has both). Results are the same bit for bit, random numbers
/// included. What attention gives is kept. Outside of a loop it is the layer itself.
///
/// source  Chen et al., arXiv:1604.06174
template <class Layer>
constexpr auto rematerialize(Layer const& body) {
  return detail::rematerialized<Layer>{body};
}

}  // namespace meshtensor
