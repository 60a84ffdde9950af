// SPDX-License-Identifier: Apache-2.0
// A loss is computed by an operation of one's own that brings no gradient.
// expect: G30 the operation 'doubled' has no gradient: give it one, or end differentiation before it
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

inline constexpr struct rows : mt::dim<"rows", 4> {} rows;
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

struct doubled {
  static void run(std::span<float const> x, std::span<float> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
};
struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto w = s.parameter("w", rows);
    mt::sgd{}.minimize(s / "optimizer", sum(mt::call<doubled>(w)));
  }
};

int main() {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<program, mesh, layout> step(values);
}
