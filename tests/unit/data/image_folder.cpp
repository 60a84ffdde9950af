// SPDX-License-Identifier: Apache-2.0
// Images by class in folders and in tar files: the same numbers, whatever the file system and the form.
//
// needs: images
#include "meshtensor/data/image/image_folder.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "support/folder.hpp"
#include "support/image_files.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using folder = meshtensor_test::temporary_folder;
using meshtensor_test::png_bytes, meshtensor_test::jpeg_bytes, meshtensor_test::some_image;
using strings = std::vector<std::string>;

namespace {

void run(std::string const& command) { REQUIRE(std::system(command.c_str()) == 0); }

/// Three classes with nine images, and much that is none.
struct pets {
  folder const f;
  pets() {
    int number = 0;
    for (char const* name : {"dog/b.png", "dog/a.png", "dog/B.PNG", "cat/1.png", "cat/10.png", "cat/2.jpeg",
                             "ape/x.JPG", "ape/in.folders/y.png", "ape/in.folders/z.png"}) {
      std::filesystem::create_directories((f / ("pets/" + std::string(name))).parent_path());
      f.write("pets/" + std::string(name), png_bytes(some_image(4, 6, number++)));  // whatever they are called
    }
    for (char const* name : {"readme.txt", "pets/list.png", "pets/dog/._a.png", "pets/dog/notes.txt", "pets/cat/png"})
      f.write(name, "no image");
    std::filesystem::create_directory(f / "pets/.hidden");
    f.write("pets/.hidden/a.png", "no image");
    std::filesystem::create_directory(f / "pets/empty");
    std::filesystem::create_symlink("nowhere", f / "pets/cat/gone.png");
  }
};

strings names(mt::image_set const& all, std::string const& without) {
  strings r;
  for (std::int64_t i = 0; i < all.size(); ++i) r.push_back(all.name(i).substr(without.size()));
  return r;
}

}  // namespace

TEST_CASE("a folder: classes and files by name, whatever lies beside them") {
  pets const p;
  mt::image_folder const all(p.f / "pets");
  CHECK(all.classes() == strings{"ape", "cat", "dog"});
  REQUIRE(all.size() == 9);
  CHECK(names(all, (p.f / "pets/").string()) == strings{"ape/in.folders/y.png", "ape/in.folders/z.png", "ape/x.JPG",
                                                        "cat/1.png", "cat/10.png", "cat/2.jpeg", "dog/B.PNG",
                                                        "dog/a.png", "dog/b.png"});
  mt::image i;
  std::vector<int> const made{7, 8, 6, 3, 4, 5, 2, 1, 0};
  for (std::size_t n = 0; n < made.size(); ++n) {
    all.read(static_cast<std::int64_t>(n), i);
    CHECK(i == some_image(4, 6, made[n]));
    CHECK(all.label(static_cast<std::int64_t>(n)) == static_cast<std::int32_t>(n / 3));
  }
}

TEST_CASE("archives have the numbers of the folder that they were made of") {
  pets const p;
  std::string const base = p.f.path.string();
  std::filesystem::remove(p.f / "pets/list.png");
  std::filesystem::rename(p.f / "pets/ape/in.folders/y.png", p.f / "pets/ape/y.png");
  std::filesystem::rename(p.f / "pets/ape/in.folders/z.png", p.f / "pets/ape/z.png");
  mt::image_folder const all(p.f / "pets");
  REQUIRE(all.size() == 9);

  run("cd '" + base + "' && tar -cf whole.tar pets && tar -C pets -cf inside.tar .");
  run("cd '" + base +
      "' && mkdir classes parts && cp -r pets/ape classes && for c in dog cat; do tar -C pets/$c -cf "
      "classes/$c.tar $(ls pets/$c); done");
  run("cd '" + base +
      "/pets' && tar -cf ../parts/2.tar dog/a.png ape && tar -cf ../parts/1.tar dog/B.PNG dog/b.png cat");
  for (char const* form : {"whole.tar", "inside.tar", "classes", "parts"}) {
    CAPTURE(form);
    mt::image_folder const same(p.f / form);
    CHECK(same.classes() == all.classes());
    REQUIRE(same.size() == all.size());
    mt::image a, b;
    for (std::int64_t i = 0; i < all.size(); ++i) {
      all.read(i, a), same.read(i, b);
      CHECK(a == b);
      CHECK(same.label(i) == all.label(i));
      auto const file = all.name(i).substr(base.size() + 6);
      CHECK(same.name(i).ends_with(file));
    }
  }
  CHECK(mt::image_folder(p.f / "parts").name(8) == base + "/parts/1.tar: dog/b.png");
}

TEST_CASE("damaged images are named, and what has none is refused") {
  pets const p;
  p.f.write("pets/dog/a.png", "no image");
  mt::image_folder const all(p.f / "pets");
  mt::image i;
  CHECK(meshtensor_test::sentence([&] { all.read(7, i); }) ==
        "meshtensor R60: the image '" + (p.f / "pets/dog/a.png").string() +
            "' is of an unknown format, not JPEG or PNG: convert it, or leave it out");
  std::filesystem::remove(p.f / "pets/dog/a.png");
  CHECK(meshtensor_test::sentence([&] { all.read(7, i); }).starts_with("meshtensor C02: "));
  auto const refusal = [&](std::string const& name) {
    return meshtensor_test::sentence([&] { mt::image_folder const none(p.f / name); });
  };
  CHECK(refusal("pets/empty") == "meshtensor R62: '" + (p.f / "pets/empty").string() +
                                     "' has no images: name a folder with a folder for each class, with files .jpg, "
                                     ".jpeg or .png, or tar files of such");
  CHECK(refusal("absent").starts_with("meshtensor R62: the folder '" + (p.f / "absent").string() +
                                      "' cannot be read, No such file or directory: name one"));
  CHECK(refusal("readme.txt").starts_with("meshtensor R62: "));
  CHECK(refusal("absent.tar").starts_with("meshtensor C02: "));
  p.f.write("pets/z.tar", "no archive");
  CHECK(refusal("pets").starts_with("meshtensor R63: the archive '" + (p.f / "pets/z.tar").string() + "': "));
}
