// SPDX-License-Identifier: Apache-2.0
// The gradient of an operation of one's own is a member of its objects.
// expect: G30 the gradient of the operation 'doubled' is not static: write static constexpr auto gradient(...)
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/call.hpp"

struct doubled {
  static void run(std::span<float const> x, std::span<float> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
  constexpr auto gradient(auto const&, auto const&, auto const& dy) const { return dy * 2; }
};
struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto w = s.parameter("w", in);
    mt::sgd{}.minimize(s / "optimizer", sum(mt::call<doubled>(w)));
  }
};
static_assert(is_accepted<program>);
