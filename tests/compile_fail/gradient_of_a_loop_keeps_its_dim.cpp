// SPDX-License-Identifier: Apache-2.0
// A loop stacks what its gradient needs along its own dim.
// expect: G31: the gradient of a loop keeps a tensor that has the loop's own dim: rename that dim before the loop
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/differentiate.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct layers_dim : mt::dim<"layers", 3> {
} layers;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, layers);
    auto y = repeat(s / "blocks", layers, x, [](mt::scope auto, auto h) { return h * h; });
    s.output("dx", gradient(sum(y), x));
  }
};

constexpr mt::module traced = mt::trace<step>();
constexpr mt::module differentiated = mt::differentiate(traced);
}  // namespace net

int main() {}
