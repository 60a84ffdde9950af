// SPDX-License-Identifier: Apache-2.0
// Crossings of curves whose crossings are known.
#include "meshtensor/emit/curve.hpp"

#include <doctest/doctest.h>

#include "support/folder.hpp"

namespace mt = meshtensor;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<mt::crossing> found(std::vector<mt::curve_point> const& a, std::vector<mt::curve_point> const& b) {
  auto const all = mt::crossings({{"a", a}, {"b", b}}), swapped = mt::crossings({{"b", b}, {"a", a}});
  REQUIRE(all.size() == swapped.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].below == swapped[i].below);
    CHECK(all[i].x == doctest::Approx(swapped[i].x).epsilon(1e-12));
  }
  return all;
}

}  // namespace

TEST_CASE("two straight lines cross at one point") {
  auto const all = found({{0, 4}, {4, 0}}, {{0, 1}, {4, 3}});  // 4 - x and 1 + x / 2
  REQUIRE(all.size() == 1);
  CHECK(all[0].below == "a");
  CHECK(all[0].above == "b");
  CHECK(all[0].x == doctest::Approx(2));
  CHECK(all[0].y == doctest::Approx(2));
}

TEST_CASE("curves with points at different x cross where their lines do") {
  // From 1 to 3, the first one is 3 - x. The second one is 1.2 there, although none of its points is.
  auto const all = found({{0, 2}, {1, 2}, {3, 0}}, {{-5, 1.2}, {10, 1.2}});
  REQUIRE(all.size() == 1);
  CHECK(all[0].x == doctest::Approx(1.8));
  CHECK(all[0].y == doctest::Approx(1.2));
}

TEST_CASE("several crossings come from left to right, and each says who is below behind it") {
  auto const all = found({{0, 1}, {1, -1}, {2, 1}, {3, -1}}, {{0, 0}, {3, 0}});
  REQUIRE(all.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(all[i].x == doctest::Approx(0.5 + static_cast<double>(i)));
    CHECK(all[i].below == (i == 1 ? "b" : "a"));
  }
  auto const three = mt::crossings({{"up", {{0, 0}, {4, 4}}}, {"flat", {{0, 1}, {4, 1}}}, {"down", {{0, 4}, {4, 0}}}});
  REQUIRE(three.size() == 3);
  CHECK(three[0].x == doctest::Approx(1));
  CHECK((three[0].below == "flat" && three[0].above == "up"));
  CHECK(three[1].x == doctest::Approx(2));
  CHECK((three[1].below == "down" && three[1].above == "up"));
  CHECK(three[2].x == doctest::Approx(3));
  CHECK((three[2].below == "down" && three[2].above == "flat"));
}

TEST_CASE("curves that do not cross") {
  CHECK(found({{0, 1}, {1, 2}}, {{0, 0}, {1, 1}}).empty());
  CHECK(found({{0, 1}, {1, 2}}, {{0, 1}, {1, 2}}).empty());          // equal
  CHECK(found({{0, 1}, {1, 0}, {2, 1}}, {{0, 0}, {2, 0}}).empty());  // they touch
  CHECK(found({{0, 1}, {1, 2}}, {{0, 1}, {1, 0}}).empty());          // they begin together
  CHECK(found({{0, 2}, {1, 1}}, {{0, 0}, {1, 1}}).empty());          // they end together
  CHECK(found({{0, 2}, {1, 0}}, {{2, 1}, {3, 1}}).empty());          // no x is in both
  CHECK(found({{1, 5}}, {{0, 0}, {2, 9}}).empty());                  // one point
  CHECK(found({{1, 5}}, {{1, 5}}).empty());
  CHECK(found({}, {{0, 0}, {2, 9}}).empty());
  CHECK(mt::crossings({}).empty());
  CHECK(mt::crossings({{"alone", {{0, 1}, {1, 0}}}}).empty());
}

TEST_CASE("curves that are equal for a while cross where they meet") {
  auto const all = found({{0, 2}, {1, 1}, {2, 1}, {3, 0}}, {{0, 1}, {3, 1}});
  REQUIRE(all.size() == 1);
  CHECK(all[0].x == 1);
  CHECK(all[0].y == 1);
  CHECK(all[0].below == "a");
  CHECK(found({{0, 2}, {1, 1}, {2, 1}, {3, 2}}, {{0, 1}, {3, 1}}).empty());  // and part as they were before
}

TEST_CASE("a crossing at a point of both is one crossing") {
  auto const all = found({{0, 2}, {1, 1}, {2, 0}}, {{0, 0}, {1, 1}, {2, 2}});
  REQUIRE(all.size() == 1);
  CHECK(all[0].x == 1);
}

TEST_CASE("nothing is known in a gap of a curve") {
  for (double const bad : {not_a_number, infinite, -infinite}) {
    CHECK(found({{0, 2}, {1, bad}, {2, 0}}, {{0, 1}, {2, 1}}).empty());
    CHECK(found({{0, 2}, {1, bad}}, {{0, 1}, {2, 1}}).empty());
    CHECK(found({{0, bad}, {1, bad}}, {{0, 1}, {2, 1}}).empty());
    // Behind the gap they cross again.
    auto const all = found({{0, 2}, {1, bad}, {2, 0}, {3, 2}}, {{0, 1}, {3, 1}});
    REQUIRE(all.size() == 1);
    CHECK(all[0].x == doctest::Approx(2.5));
    CHECK(all[0].below == "b");
  }
}

TEST_CASE("points of a curve that do not go from left to right are refused") {
  for (auto const& points : std::vector<std::vector<mt::curve_point>>{
           {{1, 0}, {0, 0}}, {{0, 0}, {0, 1}}, {{not_a_number, 0}}, {{0, 0}, {infinite, 0}}}) {
    std::string const told = meshtensor_test::sentence([&] { (void)mt::crossings({{"push", points}}); });
    CHECK(told.starts_with("meshtensor R95: the curve 'push' has its point "));
  }
}

TEST_CASE("means of neighbours") {
  mt::curve const losses{"push", {{1, 4}, {2, 2}, {3, 1}, {4, 5}, {5, 9}}};
  mt::curve const pairs = losses.averaged(2);
  CHECK(pairs.name == "push");
  REQUIRE(pairs.points.size() == 3);
  double const x[] = {2, 4, 5}, y[] = {3, 3, 9};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(pairs.points[i].x == x[i]);
    CHECK(pairs.points[i].y == y[i]);
  }
  CHECK(losses.averaged(1).points.size() == 5);
  CHECK(losses.averaged(100).points.size() == 1);
  CHECK(mt::curve{"none"}.averaged(3).points.empty());
  CHECK(std::isnan(mt::curve{"", {{1, not_a_number}, {2, 1}}}.averaged(2).points[0].y));
  CHECK(meshtensor_test::sentence([&] { (void)losses.averaged(0); }).starts_with("meshtensor R95: a mean of 0 points"));
}
