// SPDX-License-Identifier: Apache-2.0
// What a loop makes leaves it as its result.
// expect: G23 a tensor f32[batch, in] made at inner_tensor_used_outside.cpp:24 inside a loop or branch is used
// expect: outside of it: return it from the body
// expect: (inner_tensor_used_outside.cpp:27)
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/elementwise.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;
inline constexpr struct layers : mt::dim<"layers", 3> {} layers;
inline constexpr struct again : mt::dim<"again", 3> {} again;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = repeat(s / "outer", layers, x, [&](mt::scope auto r, auto h) {
      auto stolen = h;
      auto z = repeat(r / "inner", again, h, [&](mt::scope auto, auto g) {
        stolen = g * 2;
        return stolen + 1;
      });
      return z + stolen;
    });
    s.output("y", y);
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}
