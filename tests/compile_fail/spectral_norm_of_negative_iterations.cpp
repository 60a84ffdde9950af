// SPDX-License-Identifier: Apache-2.0
// A power iteration is made, or not.
// expect: T50 spectral_norm: iterations are 0 or more
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/nn/spectral_norm.hpp"

namespace mt = meshtensor;

namespace {
inline constexpr struct c_in_dim : mt::dim<"c_in", 2> {} c_in;
inline constexpr struct c_out_dim : mt::dim<"c_out", 2> {} c_out;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto const weight = s.parameter("weight", c_in, c_out);
    s.output("y", mt::nn::spectral_norm(s / "norm", weight, c_out, -1));
  }
};
constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace

int main() { return traced.node_count; }
