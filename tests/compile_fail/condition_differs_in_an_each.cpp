// SPDX-License-Identifier: Apache-2.0
// Each index would take a branch of its own.
// expect: G46 a condition differs by index of 'batch': cond and while_loop in an each take a condition that is the same
// expect: condition_differs_in_an_each.cpp:15)
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct in : mt::dim<"in", 6> {} in;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = mt::map(s / "examples", batch, x, [](mt::scope auto m, auto one) {
      return mt::cond(m / "sign", sum(one) > 0, [&](auto) { return one; }, [&](auto) { return -one; });
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
