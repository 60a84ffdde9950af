// SPDX-License-Identifier: Apache-2.0
// Tensors of other sizes, as PyTorch interpolates.
#include "meshtensor/op/resize.hpp"

#include "unit/op/values.hpp"

using namespace laws;

namespace {
inline constexpr struct joined_dim : mt::dim<"joined", b + part> {} joined;
}  // namespace

TEST_CASE("values") {
  using mt::interpolation;
  numbers const x = {1, 4, 9, 16, 25, 36};
  CHECK(of([](auto, auto v) { return resize(v, b, part); }, x) == numbers{1, 4, 16, 25});
  CHECK(of([](auto, auto v) { return resize(v, b, joined); }, x) == numbers{1, 1, 4, 4, 9, 16, 16, 25, 25, 36});
  CHECK(same(of([](auto, auto v) { return resize(v, b, joined, interpolation::linear); }, x),
             {1, 2.2, 4, 7, 9, 16, 19.6, 25, 31.6, 36}, 1e-12));
  CHECK(same(of([](auto, auto v) { return resize(v, b, joined, interpolation::corners); }, x),
             {1, 2.5, 4, 6.5, 9, 16, 20.5, 25, 30.5, 36}, 1e-12));
  CHECK(same(of([](auto, auto v) { return resize(v, b, part, interpolation::linear); }, x), {1.75, 7.75, 18.25, 33.25},
             1e-12));
  CHECK(of([](auto, auto v) { return resize(v, b, first, interpolation::corners); }, x) == numbers{1, 16});
  CHECK(of([](auto, auto v) { return gradient(sum(resize(v, b, joined)), v); }, x) == numbers{2, 2, 1, 2, 2, 1});
}
