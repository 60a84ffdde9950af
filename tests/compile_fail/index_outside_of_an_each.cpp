// SPDX-License-Identifier: Apache-2.0
// A repeat has no index: it is no each.
// expect: G45 index: no each or map over 'layers' is open here
// expect: index_outside_of_an_each.cpp:12)
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/each.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = repeat(s / "blocks", layers, x,
                    [](mt::scope auto r, auto h) { return h * mt::cast<mt::f32>(mt::index(r, layers)); });
    s.output("y", y);
  }
};
static_assert(is_accepted<step>);
