// SPDX-License-Identifier: Apache-2.0
// The gradient of an operation of one's own calls the operation itself.
// expect: G30 the gradient of the operation 'doubled' calls the operation itself: call another operation there, which
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/call.hpp"

struct doubled {
  static void run(std::span<float const> x, std::span<float> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
  static constexpr auto gradient(auto const&, auto const&, auto const& dy) { return mt::call<doubled>(dy); }
};
struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto w = s.parameter("w", in);
    mt::sgd{}.minimize(s / "optimizer", sum(mt::call<doubled>(w)));
  }
};
static_assert(is_accepted<program>);
