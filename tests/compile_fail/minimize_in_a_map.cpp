// SPDX-License-Identifier: Apache-2.0
// In map the indices share parameters, so none of them can train them by itself.
// expect: G47 the next value of a variable from outside differs by index of 'batch': declare the variable in the each,
// expect: minimize_in_a_map.cpp:16)
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct in : mt::dim<"in", 6> {} in;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto losses = mt::map(s / "examples", batch, x, [](mt::scope auto m, auto one) {
      auto loss = sum(one * m.parameter("w", in));
      mt::sgd{.learning_rate = 0.1}.minimize(m / "optimizer", loss);
      return loss;
    });
    s.output("losses", losses);
  }
};
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

int main() {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<step, mesh, layout> run(values);
}
