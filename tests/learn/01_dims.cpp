// SPDX-License-Identifier: Apache-2.0
// Lesson 1. Dims have names, and all that follows is said with names: no positions, no axes to count.
#include <doctest/doctest.h>

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;  // names the dims of a result

namespace lesson {
// A dim is a named struct with a value of the same name. Its extent is a number in its type, or given at start-up.
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct pixels : mt::dim<"pixels", 3> {} pixels;
inline constexpr struct classes : mt::dim<"classes", 2> {} classes;
inline constexpr struct joined : mt::dim<"joined", pixels * classes> {} joined;  // made from others
}  // namespace lesson
using namespace lesson;

TEST_CASE("an array has an element type and named dims") {
  mt::array<float, batch, pixels> images({1, 2, 3, 4, 5, 6});  // the open extent follows: 6 elements, 3 pixels
  CHECK(images.extent(batch) == 2);
  CHECK(images(batch(1), pixels(0)) == 4);  // an element is named, in any order
  CHECK(images(pixels(0), batch(1)) == 4);
  CHECK(text_of(images) == "f32[batch=2, pixels=3]\n[[1, 2, 3],\n [4, 5, 6]]");
}

TEST_CASE("operations broadcast by name") {
  mt::array<float, batch, pixels> const images({1, 2, 3, 4, 5, 6});
  mt::array<float, pixels> const weight({1, 0, -1});
  mt::array<float, batch> const shift({10, 20});

  // The dims of the result are those of all operands, in order of first appearance.
  auto const y = images * weight + shift;
  CHECK(text_of(y) == "f32[batch=2, pixels=3]\n[[11, 10, 7],\n [24, 20, 14]]");
  CHECK(text_of(shift - weight) == "f32[batch=2, pixels=3]\n[[9, 10, 11],\n [19, 20, 21]]");
}

TEST_CASE("a reduction names the dims that vanish, einsum those that stay") {
  mt::array<float, batch, pixels> const images({1, 2, 3, 4, 5, 6});
  mt::array<float, pixels, classes> const table({1, 0, 0, 1, 1, 1});

  CHECK(text_of(sum(images, pixels)) == "f32[batch=2]\n[6, 15]");
  CHECK(sum(images) == 21);  // over all dims: a number
  CHECK(text_of(einsum(images, table, to(batch, classes))) == "f32[batch=2, classes=2]\n[[4, 5],\n [10, 11]]");
  CHECK(text_of(sum(einsum(images, table, to(batch, classes)), batch)) == "f32[classes=2]\n[14, 16]");
}

TEST_CASE("dims are joined, renamed and cut by name") {
  mt::array<float, pixels, classes> const table({1, 2, 3, 4, 5, 6});
  CHECK(text_of(merge(table, to(pixels, classes), joined)) == "f32[joined=6]\n[1, 2, 3, 4, 5, 6]");
  CHECK(text_of(transpose(table, to(classes, pixels))) == "f32[classes=2, pixels=3]\n[[1, 3, 5],\n [2, 4, 6]]");
  // A part has another extent, hence it is another dim: rows 1 and 2, called `classes` here.
  mt::array<float, pixels> const row({7, 8, 9});
  CHECK(text_of(slice(row, pixels, classes, 1)) == "f32[classes=2]\n[8, 9]");
}
