// SPDX-License-Identifier: Apache-2.0
// A compressor keeps at least one value.
// expect: S23: top_k_values<kept, of> keeps at least one value, and at most all
#include "meshtensor/regime/top_k_values.hpp"

int main() { return meshtensor::top_k_values<0, 100>::is_linear ? 1 : 0; }
