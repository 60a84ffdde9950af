// SPDX-License-Identifier: Apache-2.0
// Drawings of curves: every curve, tick and crossing is where its numbers say.
#include "meshtensor/emit/chart.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <limits>
#include <regex>

#include "support/folder.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string drawn(std::vector<mt::curve> const& curves) {
  return mt::drawing(mt::chart{"Losses", {"time", "s"}, {"loss"}, curves});
}
int count(std::string const& text, std::string const& part) {
  int times = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++times;
  return times;
}
struct pixel {
  int x, y;
};
/// The points of the first line that is as wide as a curve.
std::vector<pixel> first_curve(std::string const& image) {
  std::smatch found;
  REQUIRE(std::regex_search(image, found, std::regex("<polyline points=\"([^\"]*)\"[^>]*stroke-width=\"2\"")));
  std::string const points = found[1];
  std::vector<pixel> all;
  std::regex const one("(\\d+),(\\d+)");
  for (std::sregex_iterator i(points.begin(), points.end(), one), end; i != end; ++i)
    all.push_back({std::stoi((*i)[1]), std::stoi((*i)[2])});
  return all;
}
/// The pixel at which a tick of the lower axis has its text.
int below(std::string const& image, std::string const& tick) {
  std::smatch found;
  REQUIRE(std::regex_search(image, found, std::regex("centred\" x=\"(\\d+)\" y=\"\\d+\">" + tick + "<")));
  return std::stoi(found[1]);
}

}  // namespace

TEST_CASE("a curve's points are at their numbers, and axes and legend say which these are") {
  std::string const image = drawn({{"push & pull", {{0, 10}, {5, 2.5}, {10, 0}}}});
  auto const points = first_curve(image);
  REQUIRE(points.size() == 3);
  CHECK(points[0].x == below(image, "0"));
  CHECK(points[1].x == (below(image, "4") + below(image, "6")) / 2);
  CHECK(points[2].x == below(image, "10"));
  CHECK(points[1].y - points[0].y == 3 * (points[2].y - points[1].y));  // 7.5 and 2.5
  for (char const* text : {">Losses<", ">time (s)<", ">loss<", ">push &amp; pull</text>", ">0 at 10 s<"})
    CHECK(count(image, text) == 1);
  CHECK(count(image, "do not cross") == 0);  // one curve alone
  CHECK(image.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
}

TEST_CASE("crossings have rings at their points, and a line below") {
  std::vector<mt::curve> const curves{{"a", {{0, 4}, {4, 0}}}, {"b", {{0, 0}, {4, 4}}}};
  std::string const image = drawn(curves);
  CHECK(count(image, "<circle") == 1);
  CHECK(count(image, ">1  a is below b from 2 s on, at a loss of 2<") == 1);
  CHECK(image.find("cx=\"" + std::to_string(below(image, "2")) + "\"") != image.npos);
  CHECK(mt::text_of(mt::chart{"", {"time", "s"}, {"loss"}, curves}) == "a is below b from 2 s on, at a loss of 2\n");
  CHECK(count(drawn({{"a", {{0, 1}, {1, 1}}}, {"b", {{0, 0}, {1, 0}}}}), ">the curves do not cross<") == 1);
  CHECK(mt::text_of(mt::chart{"", {}, {}, {{"a"}, {"b"}}}) == "the curves do not cross\n");
  CHECK(mt::text_of(mt::chart{"", {}, {}, {{"a"}}}).empty());
}

TEST_CASE("of many crossings the first ones are told") {
  mt::curve zigzag{"zigzag"}, flat{"flat", {{0, 0}, {40, 0}}};
  for (int i = 0; i <= 20; ++i) zigzag.points.push_back({2.0 * i, i % 2 == 0 ? 1.0 : -1.0});
  std::string const image = drawn({zigzag, flat});
  CHECK(count(image, "<circle") == 20);
  CHECK(count(image, ">8  ") == 1);
  CHECK(count(image, ">9  ") == 0);
  CHECK(count(image, ">and 12 more crossings<") == 1);
}

TEST_CASE("a gap divides a curve, and a point alone is a dot") {
  std::string const image = drawn({{"a", {{0, 1}, {1, 2}, {2, not_a_number}, {3, 1}, {4, 3}, {5, not_a_number}}}});
  CHECK(count(image, "<title>a</title></polyline>") == 2);
  CHECK(count(image, ">not finite at the end<") == 1);
  CHECK(count(drawn({{"a", {{1, 2}}}}), "<title>a</title></circle>") == 1);
  CHECK(count(drawn({{"a", {{1, not_a_number}}}}), ">no finite point<") == 1);
  CHECK(count(drawn({{"a"}}), ">no finite point<") == 1);
  CHECK(count(drawn({}), "class=\"frame\"") == 1);
}

TEST_CASE("axes of all magnitudes have between two and a dozen ticks") {
  double const most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  for (auto const& [from, to] : std::vector<std::pair<double, double>>{{0, 1},
                                                                       {-3, 8},
                                                                       {1e-9, 3e-9},
                                                                       {2, 2},
                                                                       {-7, -7},
                                                                       {0, 0},
                                                                       {1, 1 + 1e-15},
                                                                       {1e300, 2e300},
                                                                       {-most, most},
                                                                       {0, least},
                                                                       {99.9, 100.1}}) {
    INFO(from << " to " << to);
    std::string const image = drawn({{"a", {{0, from}, {1, to}}}});
    int const grid = count(image, "#8b949e40") - 6;  // besides those of 0, 0.2, … 1
    CHECK(grid >= 2);
    CHECK(grid <= 12);
    for (pixel const& p : first_curve(image)) {
      CHECK(p.y >= 76);
      CHECK(p.y <= 416);
    }
  }
}

TEST_CASE("points that do not go from left to right are refused") {
  CHECK(meshtensor_test::sentence([] { (void)drawn({{"a", {{1, 0}, {0, 0}}}}); }).starts_with("meshtensor R95: "));
}

TEST_CASE("the picture of the page about regimes") {
  // Means of 20 steps, as a run of the example digits printed them.
  mt::chart const losses{"32 replicas on 10gbit, pauses of 1%",
                         {"simulated time", "s"},
                         {"training loss"},
                         {{"synchronous",
                           {{0.0519, 1.479},
                            {0.105, 0.8374},
                            {0.156, 0.6008},
                            {0.206, 0.464},
                            {0.255, 0.4016},
                            {0.306, 0.3482},
                            {0.354, 0.2795},
                            {0.405, 0.2771},
                            {0.456, 0.2941},
                            {0.505, 0.2517}}},
                          {"stochastic_gradient_push",
                           {{0.0213, 2.2036},
                            {0.0422, 1.3825},
                            {0.0625, 1.1108},
                            {0.0832, 0.9564},
                            {0.104, 0.8715},
                            {0.125, 0.8825},
                            {0.145, 0.7635},
                            {0.166, 0.7633},
                            {0.187, 0.8066},
                            {0.208, 0.7466}}},
                          {"overlapped_gradient_push",
                           {{0.0177, 2.4297},
                            {0.0344, 1.4397},
                            {0.051, 1.1444},
                            {0.0668, 0.9851},
                            {0.0827, 0.8806},
                            {0.1, 0.8955},
                            {0.117, 0.772},
                            {0.133, 0.7698},
                            {0.149, 0.8138},
                            {0.165, 0.7524}}}}};
  auto const file = meshtensor_test::source_path(__FILE__).parent_path() / "../../../docs/pictures/losses.svg";
  if (std::getenv("MESHTENSOR_WRITE_PICTURES") != nullptr)
    meshtensor_test::set_content(file.string(), mt::drawing(losses));
  CHECK(mt::drawing(losses) == meshtensor_test::content(file.string()));
}
