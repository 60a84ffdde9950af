// SPDX-License-Identifier: Apache-2.0
// An array is an expression of xtensor where the header says so.
// expect: meshtensor T16: an array is an expression of xtensor only in a file that has
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

int main() {
  mt::array<float, rows, columns> const a;
  return static_cast<int>(a.xtensor()(0, 0));
}
