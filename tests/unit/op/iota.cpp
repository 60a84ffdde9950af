// SPDX-License-Identifier: Apache-2.0
// The positions along a dim, in the whole tensor on every rank.
#include "meshtensor/op/iota.hpp"

#include "unit/op/values.hpp"

using namespace laws;

namespace {
/// 0, 1, 2 and 3 in a dtype.
template <mt::dtype T>
numbers of_four() {
  return of([](auto s, auto) { return mt::iota(s, c, mt::dtype_constant<T>{}); }, one_to_six);
}
}  // namespace

TEST_CASE("values") {
  numbers const four = {0, 1, 2, 3};
  CHECK(of_four<mt::dtype::u8>() == four);
  CHECK(of_four<mt::dtype::i32>() == four);
  CHECK(of_four<mt::dtype::i64>() == four);
  CHECK(of_four<mt::dtype::bf16>() == four);
  CHECK(of_four<mt::dtype::f32>() == four);
  CHECK(of_four<mt::dtype::f64>() == four);
  CHECK(of([](auto s, auto) { return iota(s, first, mt::i32); }, one_to_six) == numbers{0});
}

TEST_CASE("values beside a tensor") {
  CHECK(of([](auto s, auto x) { return x * iota(s, b, mt::f64); }, one_to_six) == numbers{0, 2, 6, 0, 5, 12});
}

TEST_CASE("laws") {
  auto const beside = [](auto s, auto x, auto, auto...) { return x * (iota(s, b, mt::f64) + 1); };
  hold_for_one("beside a tensor", beside);
  hold_sharded("beside a tensor", beside, "a");
  hold_sharded("beside a tensor", beside, "b");
}
