// SPDX-License-Identifier: Apache-2.0
// The gradient of one index differs from that of another one, so it cannot update a parameter that all indices share.
// expect: G47 the next value of a variable from outside differs by index of 'batch': declare the variable in the each,
// expect: gradient_of_one_index_in_a_map.cpp:18)
#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct in : mt::dim<"in", 6> {} in;
struct step {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, in);
    auto losses = mt::map(s / "examples", batch, x, [](mt::scope auto m, auto one) {
      auto w = m.parameter("w", in), bias = m.parameter("bias", in);
      auto loss = sum(one * w * bias);
      m.update(bias, bias - 0.1 * mean(mt::across(gradient(loss, bias), batch), batch));  // the same for all: allowed
      m.update(w, w - 0.1 * gradient(loss, w));
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
