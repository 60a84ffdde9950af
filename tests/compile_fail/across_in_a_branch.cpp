// SPDX-License-Identifier: Apache-2.0
// Only some indices take the branch, so there are no values of all of them.
// expect: G46 across stands in a loop or branch that not all indices of 'batch' run: some have no such value; call it
// expect: across_in_a_branch.cpp:16)
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct in : mt::dim<"in", 6> {} in;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = mt::map(s / "examples", batch, x, [](mt::scope auto m, auto one) {
      return mt::cond(
          m / "large", sum(one) > 1, [&](auto) { return one - mean(mt::across(one * 2, batch), batch); },
          [&](auto) { return one; });
    });
    s.output("y", y);
  }
};
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

int main() {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<step, mesh, layout> run(values);
}
