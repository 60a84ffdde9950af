// SPDX-License-Identifier: Apache-2.0
// An operation of one's own is called with one operand too few.
// expect: T14 call: `run` of 'solved' takes 2 operands, but the call has 1 (f32[batch, rows])
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

inline constexpr struct rows : mt::dim<"rows", 4> {} rows;
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

inline constexpr struct batch : mt::dim<"batch", 3> {} batch;

struct solved {
  static constexpr auto whole = mt::to(rows), gives = mt::to(rows);
  template <class F>
  static void run(std::span<F const> a, std::span<F const> x, std::span<F> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / a[i];
  }
};
struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, batch, rows);
    auto y = mt::call<solved>(x);
    s.output("y", y);
  }
};

int main() {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<program, mesh, layout> step(values);
}
