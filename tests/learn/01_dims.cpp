// SPDX-License-Identifier: Apache-2.0
// Lesson 1. You learn to declare dims and to compute with arrays. A dim has a name, and every operation uses this name.
// Therefore you never count axes, and arrays with their dims in different orders fit together.
#include <doctest/doctest.h>

#include <meshtensor/meshtensor.hpp>

namespace mt = meshtensor;
using mt::to;  // lists dims, for example those of a result

namespace lesson {
// We declare a dim as a struct together with a value of the same name. Its extent is fixed in its type, such as 3 for
// `pixels`, or given at start-up, as for `batch`. It may also be computed from other dims, as for `joined`.
inline constexpr struct batch : mt::dim<"batch"> {} batch;
inline constexpr struct pixels : mt::dim<"pixels", 3> {} pixels;
inline constexpr struct classes : mt::dim<"classes", 2> {} classes;
inline constexpr struct joined : mt::dim<"joined", pixels * classes> {} joined;  // 6
}  // namespace lesson
using namespace lesson;

TEST_CASE("an array has an element type and named dims") {
  // The array infers the open extent: 6 elements in rows of 3 pixels make a batch of 2.
  mt::array<float, batch, pixels> images({1, 2, 3, 4, 5, 6});
  CHECK(images.extent(batch) == 2);
  // An index names its dim, so you may give the indices in any order.
  CHECK(images(batch(1), pixels(0)) == 4);
  CHECK(images(pixels(0), batch(1)) == 4);
  // `text_of` prints the element type, the dims and the elements.
  CHECK(text_of(images) == "f32[batch=2, pixels=3]\n[[1, 2, 3],\n [4, 5, 6]]");
}

TEST_CASE("operations broadcast by name") {
  mt::array<float, batch, pixels> const images({1, 2, 3, 4, 5, 6});
  mt::array<float, pixels> const weight({1, 0, -1});
  mt::array<float, batch> const shift({10, 20});

  // The result has every dim of its operands, in the order of their first appearance. An operand that lacks a dim is
  // repeated along it: here every image is multiplied by `weight`, and every pixel gets the `shift` of its image.
  auto const y = images * weight + shift;
  CHECK(text_of(y) == "f32[batch=2, pixels=3]\n[[11, 10, 7],\n [24, 20, 14]]");
  // These two operands share no dim, so the result has an element for every pair of their elements.
  CHECK(text_of(shift - weight) == "f32[batch=2, pixels=3]\n[[9, 10, 11],\n [19, 20, 21]]");
}

TEST_CASE("a reduction names the dims that vanish, einsum those that stay") {
  mt::array<float, batch, pixels> const images({1, 2, 3, 4, 5, 6});
  mt::array<float, pixels, classes> const table({1, 0, 0, 1, 1, 1});

  // `sum` removes the dims that it names. Without a dim it adds up all elements, so the result is one number.
  CHECK(text_of(sum(images, pixels)) == "f32[batch=2]\n[6, 15]");
  CHECK(sum(images) == 21);
  // `einsum` multiplies its operands and names the dims that the result keeps. It sums over every other dim. Here this
  // is `pixels`, so we get the product of two matrices.
  CHECK(text_of(einsum(images, table, to(batch, classes))) == "f32[batch=2, classes=2]\n[[4, 5],\n [10, 11]]");
  CHECK(text_of(sum(einsum(images, table, to(batch, classes)), batch)) == "f32[classes=2]\n[14, 16]");
}

TEST_CASE("dims are joined, renamed and cut by name") {
  mt::array<float, pixels, classes> const table({1, 2, 3, 4, 5, 6});
  // `merge` joins several dims into one, and `transpose` gives the dims another order.
  CHECK(text_of(merge(table, to(pixels, classes), joined)) == "f32[joined=6]\n[1, 2, 3, 4, 5, 6]");
  CHECK(text_of(transpose(table, to(classes, pixels))) == "f32[classes=2, pixels=3]\n[[1, 3, 5],\n [2, 4, 6]]");
  // A slice has another extent than its source, so it has another dim. This slice begins at index 1 of `pixels` and has
  // as many elements as `classes`, which takes the place of `pixels`.
  mt::array<float, pixels> const row({7, 8, 9});
  CHECK(text_of(slice(row, pixels, classes, 1)) == "f32[classes=2]\n[8, 9]");
}
