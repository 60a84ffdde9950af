// SPDX-License-Identifier: Apache-2.0
// Images to learn from and to validate with: by folders, and by a fraction that depends on names alone.
#include "meshtensor/datasets/image/image_split.hpp"

#include <doctest/doctest.h>

#include <set>

#include "meshtensor/datasets/image/synthetic_images.hpp"
#include "support/folder.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using folder = meshtensor_test::temporary_folder;

namespace {

template <class F>
std::string refusal(F const& f) {
  return meshtensor_test::sentence(f);
}
void add(folder const& f, std::string const& name) {
  std::filesystem::create_directories((f / name).parent_path());
  f.write(name, "not decoded");
}
std::set<std::string> keys(mt::datasets::image_set const& s) {
  std::set<std::string> all;
  for (std::int64_t i = 0; i < s.size(); ++i) CHECK(all.insert(s.key(i)).second);
  return all;
}
bool ends_with(std::string const& text, std::string const& end) { return text.ends_with(end); }

}  // namespace

TEST_CASE("folders for the parts") {
  for (auto const& [learnt, held_out] : {std::pair{"train", "val"}, {"training", "valid"}, {"train", "validation"}}) {
    folder const f;
    for (char const* const name : {"ape/1.png", "cat/1.png", "cat/2.png", "dog/1.png"})
      add(f, std::string("pets/") + learnt + "/" + name);
    add(f, std::string("pets/") + held_out + "/dog/7.png"), add(f, std::string("pets/") + held_out + "/cat/8.png");
    mt::datasets::image_split const s(f / "pets");
    CHECK(s.train().size() == 4);
    CHECK(s.validation().size() == 2);
    CHECK(s.validation().classes() == s.train().classes());
    CHECK(s.validation().key(0) == "cat/8.png");
    CHECK(s.validation().label(0) == 1);  // the number that cats have among the images to learn from
    CHECK(s.validation().label(1) == 2);
    CHECK(ends_with(s.validation().name(1), std::string("pets/") + held_out + "/dog/7.png"));
    CHECK(refusal([&] {
            mt::datasets::image_split(f / "pets", {.validation = 0.5});
          }).find("' for validation, and a fraction is asked for, too: leave out one of them") != std::string::npos);
    add(f, std::string("pets/") + held_out + "/newt/1.png");
    CHECK(ends_with(refusal([&] { mt::datasets::image_split const none(f / "pets"); }),
                    "' has the class 'newt', which the images to learn from lack: give both folders the same classes"));
  }
}

TEST_CASE("a fraction of a folder: the names decide, not the place or what else is there") {
  folder const f;
  for (int i = 0; i < 1000; ++i) add(f, "a/" + std::string(i % 2 == 0 ? "cat/" : "dog/") + std::to_string(i) + ".png");
  mt::datasets::image_split const s(f / "a", {.validation = 0.2});
  CHECK(s.train().size() + s.validation().size() == 1000);
  CHECK(s.validation().size() > 150);
  CHECK(s.validation().size() < 250);
  auto const learnt = keys(s.train()), held_out = keys(s.validation());
  for (std::string const& k : held_out) CHECK(!learnt.contains(k));
  int cats = 0;
  for (std::int64_t i = 0; i < s.validation().size(); ++i) cats += s.validation().label(i) == 0;
  CHECK(cats > 60);
  CHECK(cats < 140);

  CHECK(keys(mt::datasets::image_split(f / "a", {.validation = 0.2}).validation()) == held_out);
  CHECK(keys(mt::datasets::image_split(f / "a", {.validation = 0.2, .seed = 1}).validation()) != held_out);
  auto const more = keys(mt::datasets::image_split(f / "a", {.validation = 0.4}).validation());
  for (std::string const& k : held_out) CHECK(more.contains(k));  // what is held out by less is held out by more

  std::filesystem::rename(f / "a", f / "b");
  for (int i = 1000; i < 1100; ++i) add(f, "b/ape/" + std::to_string(i) + ".png");
  std::set<std::string> older;
  for (std::string const& k : keys(mt::datasets::image_split(f / "b", {.validation = 0.2}).validation()))
    if (!k.starts_with("ape")) older.insert(k);
  CHECK(older == held_out);

  std::filesystem::create_directory(f / "c");
  std::filesystem::rename(f / "b", f / "c/train");  // without a folder for validation, `train` is what is split
  CHECK(mt::datasets::image_split(f / "c", {.validation = 0.2}).train().classes() ==
        std::vector<std::string>{"ape", "cat", "dog"});
}

TEST_CASE("the images that are held out are those of every build and machine") {
  std::vector<std::string> held_out;
  for (int i = 0; i < 20; ++i)
    if (std::string const name = "cat/" + std::to_string(i) + ".png"; mt::datasets::detail::drawn_for(name, 0) < 0.3)
      held_out.push_back(name);
  CHECK(held_out == std::vector<std::string>{"cat/1.png", "cat/3.png", "cat/6.png", "cat/11.png", "cat/19.png"});
}

TEST_CASE("a fraction of any set") {
  mt::datasets::synthetic_images const all({.count = 200, .classes = 5, .height = 8, .width = 8});
  mt::datasets::image_split const s(all, {.validation = 0.25, .seed = 3});
  CHECK(s.train().size() + s.validation().size() == 200);
  CHECK(s.validation().size() > 25);
  CHECK(s.validation().size() < 75);
  mt::datasets::image one, other;
  for (std::int64_t i = 0, k = 0; i < 200; ++i) {
    if (k == s.validation().size() || all.key(i) != s.validation().key(k)) continue;
    CHECK(s.validation().label(k) == all.label(i));
    CHECK(s.validation().name(k) == all.name(i));
    all.read(i, one), s.validation().read(k, other);
    CHECK(one == other);
    ++k;
  }
}

TEST_CASE("what is no split") {
  folder const f;
  add(f, "pets/cat/1.png"), add(f, "pets/cat/2.png"), add(f, "lone/val/cat/1.png");
  std::string const pets = (f / "pets").string();
  CHECK(refusal([&] { mt::datasets::image_split const none(f / "pets"); }) ==
        "meshtensor R67: '" + pets +
            "' has no images for validation: add a folder 'val' beside 'train', or ask for a fraction, "
            "image_split_options{.validation = 0.1}");
  for (double const fraction : {0.0, 1.0, -0.5, 1.5, 0.0 / 0.0})
    CHECK(refusal([&] {
            mt::datasets::image_split(f / "pets", {.validation = fraction});
          }).find(" of the images cannot be held out for validation: it is above 0 and below 1") != std::string::npos);
  CHECK(refusal([&] {
          mt::datasets::image_split(f / "pets", {.validation = 1.5});
        }).starts_with("meshtensor R67: a fraction of 1.5"));
  CHECK(refusal([&] { mt::datasets::image_split(f / "pets", {.validation = 1e-9}); }) ==
        "meshtensor R67: none of the 2 images of '" + pets +
            "' is held out for validation by the fraction 0.000000: take a larger one, or more images");
  CHECK(refusal([&] { mt::datasets::image_split(f / "pets", {.validation = 1 - 1e-9}); }) ==
        "meshtensor R67: none of the 2 images of '" + pets +
            "' is left to learn from by the fraction 1.000000: take a smaller one, or more images");
  CHECK(refusal([&] {
          mt::datasets::image_split const none(f / "lone");
        }).find("has a folder 'val' but no folder 'train'") != std::string::npos);
  CHECK(refusal([&] {
          mt::datasets::image_split const none(f / "nowhere", {.validation = 0.5});
        }).starts_with("meshtensor R62"));
  mt::datasets::synthetic_images const all({.count = 4, .classes = 2});
  CHECK(refusal([&] {
          mt::datasets::image_split(all, {});
        }).starts_with("meshtensor R67: the set has no images for validation: ask"));
}
