// SPDX-License-Identifier: Apache-2.0
// The base of a class is private, so nothing can see which programs the set has.
// expect: meshtensor T54: mt::programs is a private base of the set: write struct programs : mt::programs<
#include "compile_fail/first_attempt.hpp"
#include "meshtensor/op/reduce.hpp"

struct train {
  constexpr void operator()(mt::scope auto s) const { s.output("loss", mean(s.input("x", mt::f32, batch), batch)); }
};
template <class Program>
class with_training : mt::programs<train, Program> {};

struct evaluate {
  constexpr void operator()(mt::scope auto s) const { s.output("most", max(s.input("x", mt::f32, batch), batch)); }
};
static_assert(is_accepted<with_training<evaluate>>);
