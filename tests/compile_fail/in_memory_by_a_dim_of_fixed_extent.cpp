// SPDX-License-Identifier: Apache-2.0
// The type of a dim has its extent already.
// expect: T39 in_memory: elements at an address have dims with extents, those too whose type says one
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/array/array_view.hpp"

void use(float* p) {
  auto const view = mt::in_memory(p, batch(2), in);
  (void)view;
}

int main() {}
