// SPDX-License-Identifier: Apache-2.0
// An operation of one's own gives a dim that its operand has and that it does not see whole.
// expect: T03 call: the operation gives a dim that an operand has, without naming it in `whole`
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

inline constexpr struct rows : mt::dim<"rows", 4> {} rows;
inline constexpr struct columns : mt::dim<"columns", 3> {} columns;
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

struct again {
  static constexpr auto gives = mt::to(rows);
  static void run(std::span<float const> x, std::span<float> y) { y[0] = x[0]; }
};
struct program {
  constexpr void operator()(mt::scope auto s) const {
    s.output("y", mt::call<again>(s.input("x", mt::f32, rows, columns)));
  }
};

int main() {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<program, mesh, layout> step(values);
}
