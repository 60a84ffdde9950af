// SPDX-License-Identifier: Apache-2.0
// A loop stacks what its gradient needs along its own dim.
// expect: G31 the gradient of a loop over 'layers' keeps a tensor that has this dim itself: rename that dim before
// expect: the loop
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/differentiate.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct layers_dim : mt::dim<"layers", 3> {} layers;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, layers);
    auto y = repeat(s / "blocks", layers, x, [](mt::scope auto, auto h) { return h * h; });
    s.output("dx", gradient(sum(y), x));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
constexpr mt::module differentiated = mt::differentiate(traced);
static_assert(mt::is_valid<differentiated>);
}  // namespace net

int main() {}
