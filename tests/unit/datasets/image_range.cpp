// SPDX-License-Identifier: Apache-2.0
// A range of a set of images is the set without the others.
#include "meshtensor/datasets/image/image_range.hpp"

#include <doctest/doctest.h>

#include "meshtensor/datasets/image/synthetic_images.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;
using meshtensor_test::sentence;

TEST_CASE("a range has the images, labels and names of the set") {
  mt::datasets::synthetic_images const all({.count = 20, .classes = 3, .height = 8, .width = 8, .seed = 1});
  mt::datasets::image_range const middle(all, 5, 7), rest(all, 12);
  CHECK(middle.size() == 7);
  CHECK(rest.size() == 8);
  CHECK(middle.classes() == all.classes());
  for (std::int64_t i = 0; i < middle.size(); ++i) {
    mt::datasets::image got, wanted;
    middle.read(i, got), all.read(5 + i, wanted);
    CHECK(got == wanted);
    CHECK(middle.label(i) == all.label(5 + i));
    CHECK(middle.name(i) == all.name(5 + i));
  }
  CHECK(sentence([&] { mt::datasets::image_range(all, 15, 6); }) ==
        "meshtensor R92: the images from 15 to before 21 are no range of 20 images: take fewer");
  CHECK(sentence([&] { mt::datasets::image_range(all, 20); }) ==
        "meshtensor R92: the images from 20 to before 20 are no range of 20 images: take fewer");
}
