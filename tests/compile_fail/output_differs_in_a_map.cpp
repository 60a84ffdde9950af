// SPDX-License-Identifier: Apache-2.0
// In map the indices share outputs, too.
// expect: G47 an output of map differs by index of 'batch': return the tensor from the body and give it out outside
// expect: output_differs_in_a_map.cpp:14)
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct in : mt::dim<"in", 6> {} in;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    mt::map(s / "examples", batch, x, [](mt::scope auto m, auto one) { m.output("total", sum(one)); });
  }
};
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

int main() {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<step, mesh, layout> run(values);
}
