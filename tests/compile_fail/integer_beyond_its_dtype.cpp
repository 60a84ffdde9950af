// SPDX-License-Identifier: Apache-2.0
// A hash by a factor of 64 bits, of a tensor of 32.
// expect: T02 6364136223846793005 stands beside a tensor of i32, whose elements are from -2147483648 to 2147483647
#include "compile_fail/first_attempt.hpp"

struct step {
  constexpr void operator()(mt::scope auto s) const { s.output("y", iota(s, in, mt::i32) * 6364136223846793005); }
};
static_assert(is_accepted<step>);
