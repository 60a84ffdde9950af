// SPDX-License-Identifier: Apache-2.0
// Images by class in folders and in tar files: the same numbers, whatever the file system and the form.
//
// needs: images
#include "meshtensor/datasets/image/image_folder.hpp"

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

strings names(mt::datasets::image_set const& all, std::string const& without) {
  strings r;
  for (std::int64_t i = 0; i < all.size(); ++i) r.push_back(all.name(i).substr(without.size()));
  return r;
}

}  // namespace

TEST_CASE("a folder: classes and files by name, whatever lies beside them") {
  pets const p;
  mt::datasets::image_folder const all(p.f / "pets");
  CHECK(all.classes() == strings{"ape", "cat", "dog"});
  REQUIRE(all.size() == 9);
  CHECK(names(all, (p.f / "pets/").string()) == strings{"ape/in.folders/y.png", "ape/in.folders/z.png", "ape/x.JPG",
                                                        "cat/1.png", "cat/10.png", "cat/2.jpeg", "dog/B.PNG",
                                                        "dog/a.png", "dog/b.png"});
  mt::datasets::image i;
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
  mt::datasets::image_folder const all(p.f / "pets");
  REQUIRE(all.size() == 9);

  run("cd '" + base + "' && tar -cf whole.tar pets && tar -C pets -cf inside.tar .");
  run("cd '" + base +
      "' && mkdir classes parts && cp -r pets/ape classes && for c in dog cat; do tar -C pets/$c -cf "
      "classes/$c.tar $(ls pets/$c); done");
  run("cd '" + base +
      "/pets' && tar -cf ../parts/2.tar dog/a.png ape && tar -cf ../parts/1.tar dog/B.PNG dog/b.png cat");
  for (char const* form : {"whole.tar", "inside.tar", "classes", "parts"}) {
    CAPTURE(form);
    mt::datasets::image_folder const same(p.f / form);
    CHECK(same.classes() == all.classes());
    REQUIRE(same.size() == all.size());
    mt::datasets::image a, b;
    for (std::int64_t i = 0; i < all.size(); ++i) {
      all.read(i, a), same.read(i, b);
      CHECK(a == b);
      CHECK(same.label(i) == all.label(i));
      auto const file = all.name(i).substr(base.size() + 6);
      CHECK(same.name(i).ends_with(file));
    }
  }
  CHECK(mt::datasets::image_folder(p.f / "parts").name(8) == base + "/parts/1.tar: dog/b.png");
}

namespace {

/// A set of CLASS/images/FILE, which has folders of one name in each class, and some that are deeper.
struct nested_set {
  folder const f;
  std::string const deep = std::string(90, 'd') + "/" + std::string(60, 'e') + "/" + std::string(120, 'f');
  nested_set() {
    int number = 0;
    for (std::string const& name : strings{"n01/images/a.png", "n01/images/b.png", "n02/images/a.png",
                                           "n02/images/more/c.png", "n02/" + deep + "/d.png", "n03/e.png"}) {
      std::filesystem::create_directories((f / ("set/" + name)).parent_path());
      f.write("set/" + name, png_bytes(some_image(4, 6, number++)));
    }
    f.write("set/n01/boxes.txt", "none"), f.write("set/.hidden.png", "none"), f.write("set/overview.png", "none");
    std::filesystem::create_symlink("../../n02/images/a.png", f / "set/n01/images/soft.png");
    std::filesystem::create_hard_link(f / "set/n03/e.png", f / "set/n01/hard.png");
    std::filesystem::create_symlink("nowhere.png", f / "set/n03/gone.png");
  }
  /// Runs a command in the temporary folder.
  void execute(std::string const& command) const { run("cd '" + f.path.string() + "' && " + command); }
  void check_same(std::string const& archives) const {
    mt::datasets::image_folder const all(f / "set"), same(f / archives);
    REQUIRE(all.classes() == strings{"n01", "n02", "n03"});
    REQUIRE(all.size() == 8);
    CHECK(same.classes() == all.classes());
    REQUIRE(same.size() == all.size());
    mt::datasets::image a, b;
    for (std::int64_t i = 0; i < all.size(); ++i) {
      all.read(i, a), same.read(i, b);
      CHECK(a == b);
      CHECK(same.label(i) == all.label(i));
      CHECK(same.name(i).ends_with(all.name(i).substr((f / "set/").string().size())));
    }
  }
};

}  // namespace

TEST_CASE("an archive has the classes of its folder, however names begin and folders are nested") {
  nested_set const s;
  for (std::string const format : {"gnu", "pax"})
    for (std::string const names :
         {"-C set n01 n02 n03", "-C set .", "-C set ./n01 n02 ./n03/", "set", "./set", "--transform 's,^,a/b/c/,S' set",
          "-P $PWD/set", "-P $PWD//set/./n01 $PWD/set/n02 $PWD/set/n03", "-C set/n01 -P ../../set",
          "-C set/n01 -P ../n01 ../n02 ../n03", "-C set -P n01 ./n02 n02/../n03", "--transform 's,^,.cache/,S' set",
          "--sort=name set", "set/n03 set/n02 set/n01"}) {
      CAPTURE(format);
      CAPTURE(names);
      s.execute("tar --format=" + format + " -cf all.tar " + names);
      s.check_same("all.tar");
    }
}

TEST_CASE("archives in a folder count as if they were unpacked together") {
  nested_set const s;
  s.execute("ln -sf b.png set/n01/images/soft.png");
  int number = 0;
  for (std::string const command :
       {"for c in n01 n02 n03; do tar -C set -cf $to/$c.tar $c; done",
        "for c in n01 n02 n03; do tar -cf $to/some_$c.tar ./set/$c; done",
        "tar -cf $to/a.tar set/n01 && tar -cf $to/b.tar set/n02 set/n03", "tar -cf $to/only.tar set",
        "tar -C set -cf $to/a.tar n01/hard.png n02 && tar -C set -cf $to/b.tar n01/images n03",
        "tar -C set/n03 -cf $to/n03.tar e.png && tar -C set -cf $to/rest.tar n01 n02",
        "cp -r set/n01 $to && tar -cf $to/rest.tar set/n02 set/n03"}) {
    CAPTURE(command);
    std::string const to = "parts" + std::to_string(number++);
    s.execute("to=" + to + " && mkdir $to && " + command);
    s.check_same(to);
  }
}

TEST_CASE("archives of one class") {
  nested_set const s;
  auto const classes = [&](std::string const& command) {
    s.execute("rm -rf of_one && mkdir of_one && " + command);
    strings all = mt::datasets::image_folder(s.f / "of_one").classes();
    if (std::filesystem::exists(s.f / "of_one/a.tar")) {
      CHECK(mt::datasets::image_folder(s.f / "of_one/a.tar").classes() == all);
    }
    return all;
  };
  s.execute("ln -sf b.png set/n01/images/soft.png");
  CHECK(classes("tar -C set -cf of_one/a.tar n01") == strings{"n01"});
  CHECK(classes("tar -C set -cf of_one/a.tar n02/images") == strings{"n02"});
  CHECK(classes("tar -C set/n02/images -cf of_one/a.tar .") == strings{"a"});
  // Folders of one name in the archives of several classes, and nothing else.
  CHECK(classes("for c in n01 n02; do tar -C set/$c --exclude=soft.png -cf of_one/$c.tar images; done") ==
        strings{"n01", "n02"});
  // Beside other classes they are one class.
  CHECK(classes("mkdir of_one/n04 && cp set/n03/e.png of_one/n04 && for c in b c; do tar -C set -cf of_one/$c.tar "
                "n02/images; done") == strings{"n02", "n04"});
  // The folder of the set is packed with its only class.
  s.execute("tar -cf set.tar set/n01");
  CHECK(mt::datasets::image_folder(s.f / "set.tar").classes() == strings{"n01"});
}

TEST_CASE("links that an archive cannot follow are named") {
  nested_set const s;
  auto const refusal = [&](std::string const& command) {
    s.execute(command);
    std::string const head = "meshtensor R63: the archive '" + (s.f / "a.tar").string() + "': '";
    std::string const said = meshtensor_test::sentence([&] { mt::datasets::image_folder const none(s.f / "a.tar"); });
    return said.starts_with(head) ? said.substr(head.size()) : said;
  };
  std::string const end = "', which is no file of the archive: pack with tar's --dereference";
  CHECK(refusal("tar -C set -cf a.tar n01 n03") == "n01/images/soft.png' is a link to '../../n02/images/a.png" + end);
  CHECK(refusal("rm set/n01/images/soft.png && ln -s /nowhere/n04 set/n04 && tar -cf a.tar set") ==
        "set/n04' is a link to '/nowhere/n04" + end);
  CHECK(refusal("ln -sfn n02 set/n04 && tar -cf a.tar set") == "set/n04' is a link to 'n02" + end);
  CHECK(refusal("mkdir links && ln -s ../set/n01 ../set/n02 links && tar -cf a.tar links") ==
        "links/n01' is a link to '../set/n01" + end);
  CHECK(refusal("rm set/n04 && ln -s /nowhere set/n02/images/other && tar -cf a.tar set") == "");
  CHECK(mt::datasets::image_folder(s.f / "a.tar").size() == mt::datasets::image_folder(s.f / "set").size());
}

TEST_CASE("damaged images are named, and what has none is refused") {
  pets const p;
  p.f.write("pets/dog/a.png", "no image");
  mt::datasets::image_folder const all(p.f / "pets");
  mt::datasets::image i;
  CHECK(meshtensor_test::sentence([&] { all.read(7, i); }) ==
        "meshtensor R60: the image '" + (p.f / "pets/dog/a.png").string() +
            "' is of an unknown format, not JPEG or PNG: convert it, or leave it out");
  std::filesystem::remove(p.f / "pets/dog/a.png");
  CHECK(meshtensor_test::sentence([&] { all.read(7, i); }).starts_with("meshtensor C02: "));
  auto const refusal = [&](std::string const& name) {
    return meshtensor_test::sentence([&] { mt::datasets::image_folder const none(p.f / name); });
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
