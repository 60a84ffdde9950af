// SPDX-License-Identifier: Apache-2.0
// The distances of all pairs: the dim of the others needs another name.
// expect: G44 a tensor differs by index of 'batch' and has this dim, too: rename the dim of the tensor that is the same
// expect: for all indices (each_compares_with_all_indices.cpp:15)
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct in : mt::dim<"in", 6> {} in;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto y = mt::map(s / "examples", batch, x, [](mt::scope auto, auto one) {
      auto gaps = one - mt::across(one, batch);
      return sum(gaps * gaps);
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
