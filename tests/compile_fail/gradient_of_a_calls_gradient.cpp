// SPDX-License-Identifier: Apache-2.0
// What the gradient of an operation of one's own calls needs a gradient where that is differentiated in turn.
// expect: G30 the operation 'doubled' has no gradient: give it one, or end differentiation before it
// expect: with stop_gradient (gradient_of_a_calls_gradient.cpp:
#include "meshtensor/op/gradient.hpp"
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/call.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/differentiate.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in_dim : mt::dim<"in", 4> {} in;

struct doubled {
  static void run(std::span<float const> x, std::span<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i];
  }
};
struct square {
  static void run(std::span<float const> x, std::span<float> y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] * x[i];
  }
  static constexpr auto gradient(auto x, auto, auto dy) { return mt::call<doubled>(x) * dy; }
};

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto dx = gradient(sum(mt::call<square>(x)), x);
    s.output("ddx", gradient(sum(dx * dx), x));
  }
};

constexpr mt::module traced = mt::trace<step>();
constexpr mt::module differentiated = mt::differentiate(traced);
static_assert(mt::is_valid<differentiated>);
}  // namespace net

int main() {}
