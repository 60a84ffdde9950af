// SPDX-License-Identifier: Apache-2.0
// A gradient that depends on a result, but not on the cotangent of that, cannot be differentiated in turn.
// expect: G35 the gradient of the composite 'power_of_e' depends on a result but not on its cotangent
// expect: (gradient_leaves_out_a_cotangent.cpp:
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/composite.hpp"
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/differentiate.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto const [y, kept] = composite_with_gradient(
        "power_of_e", [](auto h) { return std::tuple(exp(h) + h, exp(h)); },
        [](auto, auto, auto e, auto dy, auto) { return dy * (e + 1); }, x);
    auto dx = gradient(sum(y), x);
    s.output("ddx", gradient(sum(dx * dx), x));
  }
};

constexpr mt::module traced = mt::trace<step>();
constexpr mt::module differentiated = mt::differentiate(traced);
static_assert(mt::is_valid<differentiated>);
}  // namespace net

int main() {}
