// SPDX-License-Identifier: Apache-2.0
// One name stands for one parameter.
// expect: G03 'block/w' is declared twice, as f32[in] (a parameter) (parameter_declared_twice.cpp:18) and as
// expect: and as f32[batch] (a parameter): give one of them another name (parameter_declared_twice.cpp:19)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/pass/lower.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct in : mt::dim<"in", 4> {} in;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    mt::layer block = [](mt::scope auto r, auto h) {
      auto y = h + r.parameter("w", in);
      return y + r.parameter("w", batch);
    };
    s.output("y", block(s / "block", x));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
}  // namespace net

int main() {}
