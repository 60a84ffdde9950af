// SPDX-License-Identifier: Apache-2.0
// An array is made from one with the same dims only.
// expect: meshtensor T03: an array is made from one with other dims
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

int main() {
  mt::array<float, rows, columns> const a;
  mt::array<float, rows> const b = a;
  return static_cast<int>(b.size());
}
