// SPDX-License-Identifier: Apache-2.0
// Batches of images: each once an epoch whatever the rows, the same pixels for any threads and parts, and a position
// to go on from.
#include "meshtensor/datasets/image/image_batches.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <map>
#include <set>

#include "meshtensor/datasets/image/image_stream.hpp"
#include "meshtensor/datasets/image/synthetic_images.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;

namespace {

/// Images of which some are damaged.
struct some_images : mt::datasets::synthetic_images {
  std::set<std::int64_t> damaged;
  mutable std::atomic<int> decoded = 0;
  explicit some_images(std::set<std::int64_t> d = {}, std::int64_t height = 22, std::int64_t width = 17)
      : mt::datasets::synthetic_images({.count = 23, .classes = 5, .height = height, .width = width}),
        damaged(std::move(d)) {}
  void read(std::int64_t number, mt::datasets::image& to) const override {
    ++decoded;
    if (damaged.contains(number)) mt::datasets::image_is_damaged(name(number), "torn");
    mt::datasets::synthetic_images::read(number, to);
  }
};
/// Every byte tells its image, row, column and colour.
struct plain_images : mt::datasets::image_set {
  std::vector<std::string> names{"one"};
  std::int64_t size() const override { return 6; }
  std::vector<std::string> const& classes() const override { return names; }
  std::int32_t label(std::int64_t) const override { return 0; }
  std::string name(std::int64_t) const override { return "x"; }
  static int byte(std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) {
    return static_cast<int>(1 + n * 41 + y * 8 + x * 3 + c * 29) % 256;
  }
  void read(std::int64_t n, mt::datasets::image& to) const override {
    to.resize(5, 7);
    for (std::int64_t i = 0; i < 5 * 7 * 3; ++i)
      to.pixels[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(byte(n, i / 21, i / 3 % 7, i % 3));
  }
};

mt::datasets::image_options learning(std::int64_t rows) {
  mt::datasets::image_options o{.rows = rows, .height = 9, .width = 13};
  o.seed = 3;
  return o;
}
bool same(mt::datasets::image_batch const& a, mt::datasets::image_batch const& b) {
  return a.pixels == b.pixels && a.labels == b.labels && a.counts == b.counts && a.images == b.images &&
         a.skipped == b.skipped;
}
template <class F>
std::string refusal(F const& f) {
  return meshtensor_test::sentence(f);
}

}  // namespace

TEST_CASE("each image once an epoch, in another order and seen otherwise, whatever the rows") {
  some_images const set;
  std::map<std::int64_t, std::vector<float>> of_place;
  std::vector<std::vector<std::int64_t>> orders(3);
  for (std::int64_t const rows : {1, 4, 5, 23, 30}) {
    mt::datasets::image_batches const all(set, learning(rows));
    CHECK(all.per_epoch() == (23 + rows - 1) / rows);
    for (std::int64_t place = 0; place < 3 * 23; place += rows) {
      mt::datasets::image_batch b;
      all.read(place, b);
      REQUIRE(b.pixels.size() == static_cast<std::size_t>(rows * 9 * 13 * 3));
      for (std::int64_t r = 0; r < rows; ++r) {
        std::int64_t const image = b.images[static_cast<std::size_t>(r)];
        REQUIRE(image >= 0);
        CHECK(b.counts[static_cast<std::size_t>(r)] == 1);
        CHECK(b.labels[static_cast<std::size_t>(r)] == image % 5);
        std::vector<float> const pixels(b.pixels.begin() + r * 9 * 13 * 3, b.pixels.begin() + (r + 1) * 9 * 13 * 3);
        auto const [known, is_new] = of_place.try_emplace(place + r, pixels);
        CHECK(known->second == pixels);
        if (rows == 1) orders[static_cast<std::size_t>((place + r) / 23)].push_back(image);
        else if (place + r < 69)
          CHECK(orders[static_cast<std::size_t>((place + r) / 23)][static_cast<std::size_t>((place + r) % 23)] ==
                image);
      }
    }
  }
  for (auto const& order : orders) CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == 23);
  CHECK(orders[0] != orders[1]);
  CHECK(orders[1] != orders[2]);
  auto const place_of = [&](std::size_t epoch, std::int64_t image) {
    auto const& o = orders[epoch];
    return static_cast<std::int64_t>(epoch * 23) + (std::find(o.begin(), o.end(), image) - o.begin());
  };
  CHECK(of_place[place_of(0, 7)] != of_place[place_of(1, 7)]);
  mt::datasets::image_options other = learning(4);
  other.seed = 4;
  mt::datasets::image_batch b;
  mt::datasets::image_batches(set, other).read(0, b);
  CHECK(b.images != std::vector<std::int64_t>(orders[0].begin(), orders[0].begin() + 4));
}

TEST_CASE("the parts of all ranks are together the batch, and a rank decodes its rows alone") {
  for (mt::datasets::image_crop const crop :
       {mt::datasets::image_crop::random, mt::datasets::image_crop::moved, mt::datasets::image_crop::middle})
    for (bool const seeded : {true, false}) {
      some_images const set({3, 8});
      mt::datasets::image_options o = learning(7);
      o.crop = crop, o.shorter = 14, o.skip_damaged = true;
      if (!seeded) o.seed.reset();
      mt::datasets::image_batches const all(set, o);
      for (std::int64_t const place : {0, 7, 20}) {
        mt::datasets::image_batch whole, part;
        all.read(place, whole);
        for (std::int64_t const by_rows : {1, 2, 3, 9})
          for (std::int64_t const by_height : {1, 2, 4})
            for (std::int64_t const by_width : {1, 3}) {
              std::vector<float> together(whole.pixels.size(), -99);
              std::int64_t first_row = 0;
              std::size_t skipped = 0;
              for (std::int64_t r = 0; r < by_rows; ++r) {
                for (std::int64_t h = 0; h < by_height; ++h)
                  for (std::int64_t w = 0; w < by_width; ++w) {
                    set.decoded = 0;
                    all.read(place, part, {{r, by_rows}, {h, by_height}, {w, by_width}});
                    auto const ys = mt::part_of(9, by_height, h), xs = mt::part_of(13, by_width, w);
                    auto const rows = std::ssize(part.labels);
                    CHECK(set.decoded <= rows);
                    REQUIRE(std::ssize(part.pixels) == rows * ys.count * xs.count * 3);
                    auto from = part.pixels.begin();
                    for (std::int64_t i = 0; i < rows; ++i)
                      for (std::int64_t y = 0; y < ys.count; ++y, from += xs.count * 3)
                        std::copy_n(from, xs.count * 3,
                                    together.begin() + (((first_row + i) * 9 + ys.begin + y) * 13 + xs.begin) * 3);
                    for (std::int64_t i = 0; i < rows; ++i) {
                      auto const mine = static_cast<std::size_t>(i), its = static_cast<std::size_t>(first_row + i);
                      CHECK(part.labels[mine] == whole.labels[its]);
                      CHECK(part.counts[mine] == whole.counts[its]);
                      CHECK(part.images[mine] == whole.images[its]);
                    }
                  }
                first_row += std::ssize(part.labels), skipped += part.skipped.size();
              }
              CHECK(first_row == 7);
              CHECK(skipped == whole.skipped.size());
              CHECK(together == whole.pixels);
            }
      }
    }
}

TEST_CASE("pixels: normalized, the middle, mirrored, moved with black around") {
  plain_images const set;
  mt::datasets::image_options o{
      .rows = 1, .height = 5, .width = 7, .shorter = 5, .mean = {0.25f, 0.5f, 0}, .deviation = {1, 2, 1}};
  auto const at = [](mt::datasets::image_batch const& b, std::int64_t y, std::int64_t x, std::int64_t c) {
    float const p = b.pixels[static_cast<std::size_t>((y * 7 + x) * 3 + c)];
    return c == 1 ? p * 2 + 0.5f : c == 0 ? p + 0.25f : p;
  };
  mt::datasets::image_batch b;
  mt::datasets::image_batches(set, o).read(2, b);
  for (std::int64_t i = 0; i < 5 * 7 * 3; ++i) {
    std::int64_t const y = i / 21, x = i / 3 % 7, c = i % 3;
    CHECK(at(b, y, x, c) == doctest::Approx(plain_images::byte(2, y, x, c) / 255.0));
  }

  o.seed = 1, o.crop = mt::datasets::image_crop::moved, o.most_moved = 2;
  mt::datasets::image_batches const moved(set, o);
  std::set<std::array<std::int64_t, 3>> seen;
  for (std::int64_t place = 0; place < 600; ++place) {
    moved.read(place, b);
    // The one way to move and mirror the image that gives these pixels.
    std::vector<std::array<std::int64_t, 3>> ways;
    for (std::int64_t mirrored = 0; mirrored < 2; ++mirrored)
      for (std::int64_t down = -2; down <= 2; ++down)
        for (std::int64_t right = -2; right <= 2; ++right) {
          bool fits = true;
          for (std::int64_t i = 0; i < 5 * 7 * 3 && fits; ++i) {
            std::int64_t const y = i / 21 + down, x = (mirrored != 0 ? 6 - i / 3 % 7 : i / 3 % 7) + right, c = i % 3;
            bool const black = y < 0 || y >= 5 || x < 0 || x >= 7;
            fits = std::abs(at(b, i / 21, i / 3 % 7, c) -
                            static_cast<float>(black ? 0 : plain_images::byte(b.images[0], y, x, c)) / 255) < 1e-5f;
          }
          if (fits) ways.push_back({mirrored, down, right});
        }
    REQUIRE(ways.size() == 1);
    seen.insert(ways[0]);
  }
  CHECK(seen.size() == 50);  // every one of them

  o.flip = false, o.most_moved = 0;
  mt::datasets::image_batches(set, o).read(5, b);
  CHECK(at(b, 1, 1, 0) == doctest::Approx(plain_images::byte(b.images[0], 1, 1, 0) / 255.0));
}

TEST_CASE("a random crop shows a part alone, a middle what centre_crop says") {
  some_images const set;
  mt::datasets::image_options o = learning(1);
  o.flip = false, o.mean = {0, 0, 0}, o.deviation = {1, 1, 1};
  mt::datasets::image_batch b;
  mt::datasets::image whole, seen, rows;
  auto const shown = [&] {
    for (std::size_t i = 0; i < b.pixels.size(); ++i)
      REQUIRE(b.pixels[i] == static_cast<float>(seen.pixels[i]) / 255.0f);
  };
  mt::datasets::image_batches const all(set, o);
  for (std::int64_t const place : {0, 30, 100}) {
    all.read(place, b);
    set.read(b.images[0], whole);
    mt::random_key const key{3, 0x696d61676573ull, static_cast<std::uint64_t>(place / 23)};
    auto const box = mt::datasets::random_crop(mt::random_stream(key, static_cast<std::uint64_t>(b.images[0])), 22, 17);
    mt::datasets::resample(whole, box, 9, 13, {0, 0, 9, 13}, seen, rows);
    shown();
  }
  o.seed.reset(), o.shorter = 15;
  mt::datasets::image_batches(set, o).read(4, b);
  set.read(4, whole);
  auto const v = mt::datasets::centre_crop(22, 17, 15, 9, 13);
  mt::datasets::resample(whole, v.from, v.height, v.width, v.window, seen, rows);
  shown();
  o.shorter = 0;
  CHECK(mt::datasets::image_batches(set, o).options().shorter == 14);
  CHECK(mt::datasets::image_batches(set, {}).options().shorter == 256);
}

TEST_CASE("to be judged by: every image counts once, whatever rows and parts") {
  some_images const set({11});
  for (std::int64_t const rows : {1, 4, 5, 23, 30})
    for (std::int64_t const of : {1, 2, 3, 4, 6, 8}) {
      mt::datasets::image_options o{.rows = rows, .height = 9, .width = 13, .skip_damaged = true};
      mt::datasets::image_batches const all(set, o);
      std::map<std::int64_t, int> seen;
      double counted = 0;
      std::size_t skipped = 0;
      for (std::int64_t part = 0; part < of; ++part) {
        std::int64_t batches = 0;
        for (mt::datasets::image_stream s(all, {.rows = {part, of}}, 0, {.threads = 1}); !s.at_end(); ++batches) {
          mt::datasets::image_batch const& b = s.next();
          skipped += b.skipped.size();
          for (std::size_t r = 0; r < b.images.size(); ++r) {
            counted += static_cast<double>(b.counts[r]);
            CHECK((b.images[r] >= 0) == (b.counts[r] == 1));
            if (b.images[r] >= 0) ++seen[b.images[r]];
          }
        }
        CHECK(batches == all.per_epoch());
      }
      CHECK(counted == 22);
      CHECK(seen.size() == 22);
      CHECK(!seen.contains(11));
      CHECK(skipped == 1);
    }
}

TEST_CASE("the same for any threads; goes on from a position, with another batch, too") {
  some_images const set;
  mt::datasets::image_batches const fours(set, learning(4)), sixes(set, learning(6));
  std::vector<mt::datasets::image_batch> wanted(30);
  for (std::size_t i = 0; i < wanted.size(); ++i) fours.read(static_cast<std::int64_t>(i) * 4, wanted[i]);
  for (int const threads : {0, 1, 2, 5}) {
    mt::datasets::image_stream s(fours, {}, 0, {.threads = threads, .ahead = 3});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      CHECK(s.position() == static_cast<std::int64_t>(i) * 4);
      CHECK(same(s.next(), wanted[i]));
    }
    CHECK(!s.at_end());
    s.seek(8);
    CHECK(same(s.next(), wanted[2]));
    CHECK(s.position() == 12);
    mt::datasets::image_stream on(fours, {}, s.position(), {.threads = threads, .ahead = 1});
    CHECK(same(on.next(), wanted[3]));
  }
  mt::datasets::image_stream s(sixes, {}, 8);
  mt::datasets::image_batch const& b = s.next();
  for (std::size_t r = 0; r < 6; ++r) CHECK(b.images[r] == wanted[2 + r / 4].images[r % 4]);
  CHECK(std::equal(b.pixels.begin(), b.pixels.begin() + 4 * 9 * 13 * 3, wanted[2].pixels.begin()));
}

TEST_CASE("damaged images are thrown in their turn, or named and left out") {
  some_images const set({5});
  mt::datasets::image_options o{.rows = 3, .height = 9, .width = 13};
  mt::datasets::image_batches const all(set, o);
  mt::datasets::image_stream s(all);
  CHECK(s.next().images == std::vector<std::int64_t>{0, 1, 2});
  CHECK(refusal([&] { s.next(); }) ==
        "meshtensor R60: the image 'synthetic image 5' is damaged: torn: copy it again, or leave it out");
  CHECK(s.next().images == std::vector<std::int64_t>{6, 7, 8});

  o.skip_damaged = true;
  mt::datasets::image_batches const most(set, o);
  mt::datasets::image_batch b;
  most.read(3, b);
  CHECK(b.images == std::vector<std::int64_t>{3, 4, -1});
  CHECK(b.counts == std::vector<float>{1, 1, 0});
  CHECK(b.labels == std::vector<std::int32_t>{3, 4, 0});
  CHECK(b.skipped ==
        std::vector<std::string>{"the image 'synthetic image 5' is damaged: torn: copy it again, or leave it out"});
  CHECK(std::all_of(b.pixels.end() - 9 * 13 * 3, b.pixels.end(), [](float p) { return p == 0; }));
  most.read(6, b);
  CHECK(b.skipped.empty());
}

TEST_CASE("what a set gives is checked: its size, and the extents, bytes and label of each image") {
  struct own_images : mt::datasets::image_set {
    std::vector<std::string> names{"first", "second"};
    std::int64_t count = 4, height = 3, width = 2;
    std::size_t bytes = 18;
    std::int32_t wrong_label = 1;
    bool fails = false;
    std::int64_t size() const override { return count; }
    std::vector<std::string> const& classes() const override { return names; }
    std::int32_t label(std::int64_t n) const override { return n == 1 ? wrong_label : 0; }
    std::string name(std::int64_t n) const override { return "line " + std::to_string(n + 1); }
    void read(std::int64_t, mt::datasets::image& to) const override {
      if (fails) throw std::runtime_error("line 2 has 5 columns");
      to.height = height, to.width = width;
      to.pixels.assign(bytes, 7);
    }
  };
  auto const said = [](auto change, bool seeded = false) {
    own_images set;
    change(set);
    mt::datasets::image_options o{.rows = 2, .height = 2, .width = 2, .shorter = 2, .skip_damaged = true};
    if (seeded) o.seed = 1;
    return refusal([&] {
      mt::datasets::image_batches const all(set, o);
      mt::datasets::image_batch b;
      all.read(0, b), all.read(2, b);
    });
  };
  CHECK(said([](auto&) {}).empty());
  for (bool const seeded : {false, true})
    CHECK(said([](auto& set) { set.count = 0; }, seeded) ==
          "meshtensor R65: a set of images has no image: check the size() of the set");
  CHECK(said([](auto& set) { set.bytes = 6; }) ==
        "meshtensor R97: the image 'line 1' has 6 bytes and 3 x 2 pixels: give each pixel three bytes, red, green and "
        "blue, also if it is grey");
  for (std::int64_t const wrong : {std::int64_t{0}, std::int64_t{-3}, std::int64_t{1} << 62}) {
    CHECK(said([&](auto& set) { set.height = wrong; }).starts_with("meshtensor R97: the image 'line 1' has 18 bytes"));
    CHECK(said([&](auto& set) { set.width = wrong; }).starts_with("meshtensor R97: the image 'line 1' has 18 bytes"));
  }
  for (std::int32_t const wrong : {2, -1})
    CHECK(said([&](auto& set) { set.wrong_label = wrong; }) == "meshtensor R97: the image 'line 2' has the label " +
                                                                   std::to_string(wrong) +
                                                                   ", but the set has 2 classes: labels count from 0");
  CHECK(said([](auto& set) { set.fails = true; }) == "line 2 has 5 columns");
}

TEST_CASE("options and places that there are not") {
  some_images const set;
  auto const made = [&](auto change) {
    mt::datasets::image_options o;
    change(o);
    return refusal([&] { mt::datasets::image_batches const none(set, o); });
  };
  CHECK(made([](auto& o) { o.rows = 0; }) ==
        "meshtensor R65: a batch of 0 images of 224 x 224 pixels is none: each of these is at least 1");
  CHECK(made([](auto& o) { o.width = 0; }).find("R65") != std::string::npos);
  CHECK(made([](auto& o) {
          o.most_moved = -1;
        }).starts_with("meshtensor R91: images cannot be cropped by these options"));
  CHECK(made([](auto& o) { o.bounds.least_area = 2; }).find("R91") != std::string::npos);
  CHECK(made([](auto& o) { o.bounds.least_aspect = 0; }).find("R91") != std::string::npos);
  CHECK(made([](auto&) {}).empty());
  mt::datasets::image_batches const all(set, learning(4));
  mt::datasets::image_batch b;
  CHECK(refusal([&] { all.read(-1, b); }) ==
        "meshtensor R92: there is no part 0 of 1 of the batch at -1: places and parts count from 0");
  CHECK(refusal([&] { all.read(0, b, {.rows = {2, 2}}); }).find("no part 2 of 2 of the batch at 0") !=
        std::string::npos);
  CHECK(refusal([&] { all.read(0, b, {.width = {-1, 2}}); }).find("R92") != std::string::npos);
  CHECK(refusal([&] { mt::datasets::image_stream const none(all, {}, -4); }) ==
        "meshtensor R92: there is no position -4 in a set of images: they count from 0");
  mt::datasets::image_options large{.rows = 1, .height = 30, .width = 30, .shorter = 20};
  CHECK(refusal([&] { mt::datasets::image_batches(set, large).read(0, b); }).find("has no middle of 30 x 30") !=
        std::string::npos);
}
