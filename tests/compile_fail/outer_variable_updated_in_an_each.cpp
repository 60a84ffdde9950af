// SPDX-License-Identifier: Apache-2.0
// All indices would give a next value to one variable.
// expect: G47 the next value of a variable from outside differs by index of 'batch': declare the variable in the each,
// expect: outer_variable_updated_in_an_each.cpp:16)
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct in : mt::dim<"in", 6> {} in;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto seen = s.state("seen", mt::f32, in);
    auto y = mt::map(s / "examples", batch, x, [&](mt::scope auto m, auto one) {
      m.update(seen, seen + one);
      return one * seen;
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
