// SPDX-License-Identifier: Apache-2.0
// A composite brings its gradient in plain operations.
// expect: G27: the gradient of a composite holds a loop or a composite
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/differentiate.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {
} in;
inline constexpr struct layers_dim : mt::dim<"layers", 3> {
} layers;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto y = composite_with_gradient(
        "scaled", [](auto h) { return h * 8; },
        [&](auto, auto, auto g) {
          return repeat(s / "again", layers, g, [](mt::scope auto, auto h) { return h * 2; });
        },
        x);
    s.output("dx", gradient(sum(y), x));
  }
};

constexpr mt::module traced = mt::trace<step>();
constexpr mt::module differentiated = mt::differentiate(traced);
}  // namespace net

int main() {}
