// SPDX-License-Identifier: Apache-2.0
// The function of an operation of one's own is a member of its objects.
// expect: T14 call: `run` of 'doubled' is not static: write static void run(...) (f32[rows])
#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;

inline constexpr struct rows : mt::dim<"rows", 4> {} rows;
struct mesh : mt::mesh<> {};
struct layout : mt::layout<> {};

struct doubled {
  void run(std::span<float const> x, std::span<float> y) const {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
};
struct program {
  constexpr void operator()(mt::scope auto s) const { s.output("y", mt::call<doubled>(s.input("x", mt::f32, rows))); }
};

int main() {
  auto const job = mt::job::as_threads();
  mt::store values(job);
  mt::executable<program, mesh, layout> step(values);
}
