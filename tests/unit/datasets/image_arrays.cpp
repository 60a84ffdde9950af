// SPDX-License-Identifier: Apache-2.0
// Images that lie in arrays: IDX, CIFAR; and those that are made.
#include <doctest/doctest.h>

#include <set>

#include "meshtensor/datasets/image/cifar.hpp"
#include "meshtensor/datasets/image/idx.hpp"
#include "meshtensor/datasets/image/synthetic_images.hpp"
#include "support/folder.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using bytes = std::vector<std::uint8_t>;
using folder = meshtensor_test::temporary_folder;

namespace {

std::string as_text(bytes const& b) { return {reinterpret_cast<char const*>(b.data()), b.size()}; }
template <class F>
std::string refusal(F const& f) {
  return meshtensor_test::sentence(f);
}
std::string of_idx(bytes const& b) {
  return refusal([&] { mt::datasets::idx_of(b, "x"); });
}

}  // namespace

TEST_CASE("IDX: three images of two rows") {
  folder const f;
  bytes images{0, 0, 8, 3, 0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1}, labels{0, 0, 8, 1, 0, 0, 0, 3, 4, 0, 9};
  for (std::uint8_t i = 0; i < 6; ++i) images.push_back(10 * i);
  f.write("images", as_text(images)), f.write("labels", as_text(labels));
  mt::datasets::idx_images const all(f / "images", f / "labels");
  CHECK(all.size() == 3);
  CHECK(all.classes() == mt::datasets::numbered_classes(10));
  CHECK(all.label(0) == 4);
  CHECK(all.label(2) == 9);
  CHECK(all.name(2) == (f / "images").string() + ": 2");
  mt::datasets::image i;
  all.read(1, i);
  CHECK(i == mt::datasets::image{2, 1, {20, 20, 20, 30, 30, 30}});
  mt::datasets::idx_array const a = mt::datasets::read_idx(f / "images");
  CHECK(a.extents == std::vector<std::int64_t>{3, 2, 1});
  CHECK(a.bytes.size() == 6);

  auto const opened = [&](char const* one, char const* other) {
    return refusal([&] { mt::datasets::idx_images const none(f / one, f / other); });
  };
  CHECK(opened("labels", "images")
            .find("labels' has no images: its array has 1 dims and 3 bytes, and images are "
                  "[images, height, width]") != std::string::npos);
  CHECK(opened("images", "images").find("has not the labels of") != std::string::npos);
  f.write("fewer", as_text({0, 0, 8, 1, 0, 0, 0, 2, 4, 0}));
  CHECK(opened("images", "fewer").starts_with("meshtensor R89: "));
  CHECK(opened("images", "fewer").find("it has 2 elements in 1 dims for 3 images") != std::string::npos);
  CHECK(opened("images", "absent").starts_with("meshtensor C02: "));
}

TEST_CASE("IDX that is none") {
  CHECK(of_idx({0, 0, 8, 1, 0, 0, 0, 2, 5, 6}).empty());
  CHECK(of_idx({0, 0, 8, 1, 0, 0, 0, 0}).empty());
  CHECK(of_idx({0, 0, 8, 2, 0, 0, 0, 0, 255, 255, 255, 255}).empty());
  CHECK(of_idx({0, 0, 8, 1, 0, 0, 0, 2, 5}) ==
        "meshtensor R64: 'x' has 9 bytes, not as many as the extents at its beginning say: copy it again");
  for (bytes const& wrong : {bytes{0, 0, 8, 1, 0, 0, 0, 2, 5, 6, 7}, bytes{0, 0, 8, 0}, bytes{0, 0, 8, 2, 0, 0, 0, 1},
                             bytes{0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1},
                             bytes{0, 0, 8, 3, 128, 0, 0, 0, 128, 0, 0, 0, 0, 0, 0, 4}, bytes{0, 0, 8, 255}})
    CHECK(of_idx(wrong).find("not as many as the extents") != std::string::npos);
  CHECK(of_idx({31, 139, 8, 0}).find("does not begin with two zeros") != std::string::npos);
  CHECK(of_idx({0, 0, 8}).find("does not begin with two zeros") != std::string::npos);
  CHECK(of_idx({0, 0, 13, 1, 0, 0, 0, 0}) == "meshtensor R64: 'x' has elements of IDX's type 13, not bytes, type 8");
}

TEST_CASE("CIFAR: planes become pixels, the fine label counts") {
  folder const f;
  auto const record = [](bytes labels, int n) {
    for (int i = 0; i < 3072; ++i) labels.push_back(static_cast<std::uint8_t>(i / 1024 * 50 + i % 7 + n));
    return as_text(labels);
  };
  for (int i = 1; i <= 5; ++i)
    f.write("data_batch_" + std::to_string(i) + ".bin",
            record({static_cast<std::uint8_t>(i)}, i) + record({9}, 10 * i));
  f.write("test_batch.bin", record({3}, 0));
  mt::datasets::cifar_images const ten(f.path, "train");
  CHECK(ten.size() == 10);
  CHECK(ten.classes().size() == 10);
  CHECK(ten.label(2) == 2);
  CHECK(ten.label(3) == 9);
  CHECK(ten.name(3) == "image 3 of CIFAR");
  CHECK(mt::datasets::cifar_images(f.path, "test").label(0) == 3);
  mt::datasets::image i;
  ten.read(3, i);
  REQUIRE(i.height == 32);
  REQUIRE(i.width == 32);
  for (int p = 0; p < 1024; ++p)
    for (int c = 0; c < 3; ++c)
      REQUIRE(i.pixels[static_cast<std::size_t>(3 * p + c)] == 50 * c + (1024 * c + p) % 7 + 20);

  f.write("train.bin", record({19, 99}, 0));
  f.write("test.bin", record({19, 42}, 5) + record({1, 2}, 5));
  mt::datasets::cifar_images const hundred(f.path, "test");
  CHECK(hundred.size() == 2);
  CHECK(hundred.classes().size() == 100);
  CHECK(hundred.label(0) == 42);
  hundred.read(1, i);
  CHECK(i.pixels[0] == 5);

  auto const opened = [&](std::string const& part) {
    return refusal([&] { mt::datasets::cifar_images const none(f.path, part); });
  };
  CHECK(opened("valid") == "meshtensor R69: CIFAR has no part 'valid': it has 'train' and 'test'");
  f.write("train.bin", record({1, 100}, 0));
  CHECK(opened("train").find("train.bin' has the label 100 at byte 1, of 100 classes") != std::string::npos);
  f.write("train.bin", record({1, 2}, 0) + "x");
  CHECK(opened("train").find("has 3075 bytes, which are not records of 3074") != std::string::npos);
  std::filesystem::remove(f / "train.bin");
  std::filesystem::remove(f / "data_batch_5.bin");
  CHECK(opened("train").starts_with("meshtensor R68: there is no '"));
  CHECK(opened("train").find("data_batch_5.bin': name the folder") != std::string::npos);
  CHECK(refusal([] { mt::datasets::cifar_images({}, 10, "x"); }).find("has 0 bytes") != std::string::npos);
}

TEST_CASE("synthetic images: patches of a class under the noise of an image") {
  mt::datasets::synthetic_images const all({.count = 12, .classes = 4, .height = 20, .width = 31});
  CHECK(all.size() == 12);
  CHECK(all.classes().size() == 4);
  mt::datasets::image a, b, c, again;
  all.read(1, a), all.read(5, b), all.read(2, c), all.read(1, again);
  CHECK(all.label(5) == 1);
  CHECK(a == again);
  CHECK(a != b);
  std::int64_t same_class = 0, other_class = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    same_class = std::max<std::int64_t>(same_class, std::abs(a.pixels[i] - b.pixels[i]));
    other_class = std::max<std::int64_t>(other_class, std::abs(a.pixels[i] - c.pixels[i]));
  }
  CHECK(same_class <= 64);
  CHECK(other_class > 64);
  CHECK(std::set<std::uint8_t>(a.pixels.begin(), a.pixels.end()).size() > 100);
  mt::datasets::synthetic_images({.count = 12, .classes = 4, .height = 20, .width = 31, .seed = 2}).read(1, again);
  CHECK(a != again);
  CHECK(refusal([] { mt::datasets::synthetic_images({.count = 0}); }).find("meshtensor R65: 0 synthetic images") == 0);
}
