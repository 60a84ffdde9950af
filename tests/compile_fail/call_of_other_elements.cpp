// SPDX-License-Identifier: Apache-2.0
// An operation of one's own whose function takes floats is called with doubles.
// expect: T14 call: `run` of 'doubled' takes other arguments than a std::span<element const> for each operand
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
  constexpr void operator()(mt::scope auto s) const { s.output("y", mt::call<doubled>(s.input("x", mt::f64, rows))); }
};

int main() {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<program, mesh, layout> step(values);
}
