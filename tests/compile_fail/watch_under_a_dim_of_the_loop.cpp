// SPDX-License-Identifier: Apache-2.0
// A tensor that has the loop's own dim cannot be stacked along it.
// expect: G33 'all' is watched in a loop over 'layers' and has that dim itself: rename it first
// expect: (watch_under_a_dim_of_the_loop.cpp:22)
#include "meshtensor/base/raise_at_compile_time.hpp"
#include "meshtensor/graph/trace.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/op/reduce.hpp"
#include "meshtensor/pass/differentiate.hpp"

namespace mt = meshtensor;

namespace net {
inline constexpr struct in : mt::dim<"in", 4> {} in;
inline constexpr struct layers : mt::dim<"layers", 3> {} layers;

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, in);
    auto all = s.input("all", mt::f32, layers);
    s.output("y", repeat(s / "body", layers, x, [&](mt::scope auto r, auto h) {
               r.watch("all", all * 2);
               return h * sum(all);
             }));
  }
};

constexpr mt::module traced = mt::try_trace<step>();
static_assert(mt::is_valid<traced>);
constexpr mt::module differentiated = mt::differentiate(traced);
static_assert(mt::is_valid<differentiated>);
}  // namespace net

int main() {}
