// SPDX-License-Identifier: Apache-2.0
// An executable of a program that its set does not have.
// expect: meshtensor T13: the program is not one of the set that it is declared with
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

struct only_grow : mt::programs<grow> {};

int main(int argc, char** argv) {
  mt::job job(argc, argv);
  mt::store values(job);
  mt::executable<only_grow, look, mesh, spread> step(values);
}
