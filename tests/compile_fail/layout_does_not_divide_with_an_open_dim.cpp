// SPDX-License-Identifier: Apache-2.0
// What cannot divide is said by the compiler, also where other extents and axes are given at start-up.
// expect: S02 dim 'rows' (4) is sharded over mesh axis 'wide' (3 processors), which does not divide it
// expect: make it a multiple of 3, or replicate it
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

inline constexpr struct wide_axis : mt::axis<"wide", 3> {} wide;
struct wide_mesh : mt::mesh<data, wide> {};
struct wide_rows : mt::layout<mt::shard<batch, data>, mt::shard<rows, wide>> {};

int main(int argc, char** argv) {
  mt::job job(argc, argv);
  mt::store values(job);
  mt::executable<programs, grow, wide_mesh, wide_rows> step(values, batch(8));
}
