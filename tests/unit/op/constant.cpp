// SPDX-License-Identifier: Apache-2.0
// A number as a tensor without dims, as its dtype holds it.
#include "meshtensor/op/constant.hpp"

#include "unit/op/values.hpp"

using namespace laws;

namespace {
template <mt::dtype T>
constexpr auto made(auto s, mt::number const& n) {
  return mt::tensor<T>(&s.graph_builder(), mt::constant(s.graph_builder(), n, T));
}
/// The constant 0.1 in a dtype.
template <mt::dtype T>
numbers tenth() {
  return of([](auto s, auto) { return made<T>(s, 0.1); }, one_to_six);
}
}  // namespace

TEST_CASE("values") {
  CHECK(tenth<mt::dtype::f64>() == numbers{0.1});
  CHECK(tenth<mt::dtype::f32>() == numbers{static_cast<double>(0.1f)});
  CHECK(tenth<mt::dtype::bf16>() == numbers{0.10009765625});
  CHECK(of([](auto s, auto) { return made<mt::dtype::i32>(s, -7); }, one_to_six) == numbers{-7});
  CHECK(of([](auto s, auto) { return made<mt::dtype::i64>(s, 9007199254740992); }, one_to_six) ==
        numbers{9007199254740992});
  CHECK(of([](auto s, auto) { return made<mt::dtype::u8>(s, 255); }, one_to_six) == numbers{255});
  CHECK(of([](auto s, auto) { return made<mt::dtype::boolean>(s, 1); }, one_to_six) == numbers{1});
  CHECK(of([](auto s, auto) { return made<mt::dtype::f32>(s, -inf); }, one_to_six) == numbers{-inf});
  CHECK(same(of([](auto s, auto) { return made<mt::dtype::f64>(s, no_number); }, one_to_six), {no_number}));
  CHECK(of([](auto s, auto) { return made<mt::dtype::f64>(s, s.number("n", 2.5) * 2 + mt::extent(b)); }, one_to_six) ==
        numbers{8});
}

TEST_CASE("a number that a run sets is refused where the dtype cannot hold it") {
  CHECK(of([](auto s, auto) { return made<mt::dtype::i32>(s, s.number("n", 7)); }, one_to_six) == numbers{7});
  CHECK_THROWS_WITH_AS(of([](auto s, auto) { return made<mt::dtype::i32>(s, s.number("n", 3e9)); }, one_to_six),
                       doctest::Contains("T02: the number n is 3000000000, but stands beside a tensor of i32"),
                       mt::error);
  CHECK_THROWS_WITH_AS(of([](auto s, auto) { return made<mt::dtype::u8>(s, s.number("n", -1)); }, one_to_six),
                       doctest::Contains("T02: the number n is -1, but stands beside a tensor of u8"), mt::error);
}

TEST_CASE("laws") {
  auto const beside = [](auto s, auto x, auto, auto...) {
    return x * made<mt::dtype::f64>(s, 2.5) + made<mt::dtype::f64>(s, -1);
  };
  hold_for_one("beside a tensor", beside);
  hold_sharded("beside a tensor", beside, "b");
}
