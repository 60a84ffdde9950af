// SPDX-License-Identifier: Apache-2.0
// The elements around each one.
#include "meshtensor/op/stencil.hpp"

#include "unit/op/values.hpp"

using namespace laws;

namespace {
constexpr auto sum_around = [](auto at) { return at(b(-1)) + 10 * at() + 100 * at(b(1)); };
constexpr auto corners = [](auto at) { return at(a(1), b(-1)) - at(b(-1), a(1)) + at(a(-1), b(1)); };
}  // namespace

TEST_CASE("a stencil takes the elements around each one") {
  numbers const x = one_to_six;
  CHECK(of([](auto, auto v) { return mt::stencil(v, sum_around); }, x) == numbers{210, 321, 32, 540, 654, 65});
  CHECK(of([](auto, auto v) { return mt::stencil(v, sum_around, mt::beyond::other_end); }, x) ==
        numbers{213, 321, 132, 546, 654, 465});
  CHECK(of([](auto, auto v) { return mt::stencil(v, corners); }, x) == numbers{0, 0, 0, 2, 3, 0});
  CHECK(of([](auto, auto v) { return mt::stencil(v, [](auto at) { return at(b(-2), b(1)) + at(b(5)); }); }, x) ==
        numbers{0, 1, 2, 0, 4, 5});
  CHECK(of([](auto, auto v) { return gradient(sum(mt::stencil(v, [](auto at) { return at(b(1)) * at(); })), v); }, x) ==
        numbers{2, 4, 2, 5, 10, 5});
  CHECK_THROWS_WITH_AS(of([](auto, auto v) { return mt::stencil(v, [](auto at) { return at(c(1)); }); }, x),
                       doctest::Contains("meshtensor T01: stencil: the tensor lacks the dim 'c'"), mt::error);
}
