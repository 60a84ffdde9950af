// SPDX-License-Identifier: Apache-2.0
// An operation of one's own sees a dim whole that none of its operands has.
// expect: T01 call: no operand has a dim that the operation names in `whole`
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

inline constexpr struct rows : mt::dim<"rows", 4> {} rows;
inline constexpr struct columns : mt::dim<"columns", 4> {} columns;
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

struct first {
  static constexpr auto whole = mt::to(columns);
  static void run(std::span<float const> x, std::span<float> y) { y[0] = x[0]; }
};
struct program {
  constexpr void operator()(mt::scope auto s) const { s.output("y", mt::call<first>(s.input("x", mt::f32, rows))); }
};

int main() {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<program, mesh, layout> step(values);
}
